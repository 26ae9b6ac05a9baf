import * as z from "zod/mini";
import { InvalidRequestError } from "../errors.ts";
import { schemaProblem } from "../schema-problem.ts";
import {
  copyJson,
  Flaw,
  frozenCopy,
  isRecord,
  quoteName,
  toRecord,
  findSortedKey,
} from "./json.ts";
import { wordingText } from "./wording.ts";
import { kindList, type Question, questionKinds, type Questions, questionSchema } from "./kinds.ts";
import type { QuestionLimits } from "./kinds/kind.ts";
import { checkForImage, copyParts, type ImageSupport, type State } from "./state.ts";

/** The body of an evaluation request (contract section 2.1). */
export const evaluationRequestSchema = z.strictObject({
  state: z.union([z.string(), toRecord(z.json())]),
  questions: toRecord(questionSchema),
});
/** A state, and questions about it (contract section 2.1). */
export interface EvaluationRequest<TQuestions extends Questions = Questions, TState = State> {
  /**
   * Free text or a JSON object; key names are input to the model. At most 32k tokens. On wires that
   * take images, also a list of parts: text, `{ json }` and {@link image}.
   */
  readonly state: TState;
  /** Question id to question; the model never sees the id. */
  readonly questions: TQuestions;
}

/**
 * Returns a function that checks requests and copies them, so that later changes do not reach a call.
 * Questions that were asked before and have not changed give the same frozen copy.
 */
export function requestParser(limits: QuestionLimits = {}, service: ServiceLimits = {}) {
  const { images, problemWith } = service;
  // A service with limits of its own names itself in the message.
  const usual = problemWith === undefined ? {} : noLimits;
  const problemsOf = perQuestions((questions) => {
    const problems = findProblems(questions, { ...usual, ...limits });
    const problem = problems.length > 0 ? null : (problemWith?.(questions) ?? null);
    return problem === null ? problems : [problem];
  });
  let hasWarned = false;
  return (request: EvaluationRequest): EvaluationRequest => {
    if (!isRequest(request)) {
      throw new InvalidRequestError("A request is an object with a state and questions, no more.");
    }
    const { questions: givenQuestions } = request;
    const state = copyState(request.state, images);
    const questions = knownCopy(givenQuestions);
    const problem = problemsOf(questions)[0];
    if (problem !== undefined) {
      const { questionId } = problem;
      throw new InvalidRequestError(problem.message, { questionId });
    }
    const { questionId } = needsImage(questions);
    if (questionId !== null) checkForImage(questionId, state, images);
    hasWarned ||= warnOfSorted(questions);
    return { state, questions: copyQuestions(questions) };
  };
}

const needsImage = perQuestions((questions) => {
  const entry = Object.entries(questions).find(([, { type }]) => questionKinds[type].needsImage);
  return { questionId: entry?.[0] ?? null };
});

/** Warns if options or questions may be sent in another order than they were written in; returns whether. */
const warnOfSorted = perQuestions((questions) => {
  const id = findSortedKey(questions);
  const listedTexts = Object.values(questions).map(({ criteria }) => findSortedKey(criteria ?? {}));
  const option = listedTexts.find((key) => key !== undefined);
  if (id === undefined && option === undefined) return false;
  const [what, advice] =
    option === undefined
      ? [`question id ${quoteName(id ?? "")}`, "begin ids with a letter"]
      : [`option ${quoteName(option)}`, 'write a list: choice("…", [["3", "…"], ["1", "…"]])'];
  const message = `the ${what} looks like an integer. JavaScript sorts such names before all others, and the model reads them in that order; to keep yours, ${advice}.`;
  const warning = { type: "EvaluatorWarning", code: "EVALUATOR_NAMES_SORTED" };
  globalThis.process?.emitWarning?.(message, warning);
  return true;
});

/** A question that cannot be asked, or null for all of them, and the sentence about it. */
export interface QuestionProblem {
  readonly message: string;
  readonly questionId: string | null;
}

/** What a service takes. */
interface ServiceLimits {
  readonly images?: ImageSupport;
  readonly problemWith?: (questions: Questions) => QuestionProblem | null;
}

const noLimits: QuestionLimits = {
  maxOptions: Number.POSITIVE_INFINITY,
  maxLevels: Number.POSITIVE_INFINITY,
};

function findProblems(questions: Questions, limits: QuestionLimits): readonly QuestionProblem[] {
  const entries = Object.entries(questions);
  if (entries.length === 0) return [{ message: "Ask at least one question.", questionId: null }];
  return entries.flatMap(([questionId, question]) => {
    const problem = problemOfOne(question, limits);
    if (problem === null) return [];
    return { message: `The question ${quoteName(questionId)} ${problem}.`, questionId };
  });
}

function problemOfOne(question: Question, limits: QuestionLimits): string | null {
  const issue = questionSchema.safeParse(question, { error: schemaProblem }).error?.issues[0];
  if (issue !== undefined) {
    const where =
      issue.path.length === 0 ? "" : ` at ${quoteName(issue.path.map(String).join("."))}`;
    return `is not a ${kindList} question${where}: ${issue.message}`;
  }
  if (!/\S/.test(wordingText(question.instructions)))
    return "has empty instructions; write the question";
  const kind = questionKinds[question.type];
  const { limit } = kind;
  if (limit === null) return null;
  const count = kind.keys(question).length;
  const most = limits[limit.option] ?? limit.most;
  if (count === 0) return `has no ${limit.unit}; give it at least one`;
  if (count <= most) return null;
  return `has ${count} ${limit.unit}s, more than ${most}; a service that takes more needs questionLimits.${limit.option}`;
}

function isRequest(request: unknown): boolean {
  if (!isRecord(request) || !isRecord(request["questions"])) return false;
  for (const key of Object.keys(request)) {
    if (key !== "state" && key !== "questions") return false;
  }
  return true;
}

function copyState(state: unknown, images: ImageSupport | undefined): State {
  if (typeof state === "string") return state;
  if (Array.isArray(state)) return copyParts(state, images);
  const copy = isRecord(state) ? copyJson(state) : new Flaw("");
  if (!(copy instanceof Flaw)) return copy as State;
  const problem =
    copy.path === ""
      ? "The state is neither a string nor a JSON object"
      : `The state at ${quoteName(`state${copy.path}`)} ${copy.what}`;
  throw new InvalidRequestError(`${problem}; send text or a JSON object.`);
}

/** The frozen copies of questions; null for questions that were used once. */
const copies = new WeakMap<object, Questions | null>();

/** Returns the frozen copy of questions that were used twice and have not changed since, else the questions. */
function knownCopy(questions: Questions): Questions {
  const copy = copies.get(questions);
  return copy && isCopy(copy, questions) ? copy : questions;
}

/** Returns questions for which {@link perQuestions} caches, if they are used a second time. */
export function repeatedQuestions(questions: Questions): Questions {
  return copyQuestions(knownCopy(questions));
}

/** Returns a frozen copy of questions; it is kept when they are used a second time. */
function copyQuestions(questions: Questions): Questions {
  const earlier = copies.get(questions);
  if (earlier === questions) return questions;
  const copy = frozenCopy(questions);
  copies.set(questions, earlier === undefined ? null : copy);
  if (earlier !== undefined) copies.set(copy, copy);
  return copy;
}

/** Returns a function that caches its result for constant questions. */
export function perQuestions<TValue extends object | string | number | boolean>(
  workOut: (questions: Questions) => TValue,
): (questions: Questions) => TValue {
  const values = new WeakMap<object, TValue>();
  return (questions) => {
    const knownValue = values.get(questions);
    if (knownValue !== undefined) return knownValue;
    const value = workOut(questions);
    if (copies.get(questions) === questions) values.set(questions, value);
    return value;
  };
}

function isCopy(copy: unknown, value: unknown): boolean {
  if (copy === value) return true; // frozen data is not copied
  if (typeof copy !== "object" || copy === null) return false;
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(copy) !== Array.isArray(value)) return false;
  const copiedKeys = Object.keys(copy);
  const keys = Object.keys(value);
  if (keys.length !== copiedKeys.length) return false;
  for (let index = 0; index < keys.length; index += 1) {
    const key = keys[index] as keyof typeof value;
    if (key !== copiedKeys[index] || !isCopy(copy[key], value[key])) return false;
  }
  return true;
}
