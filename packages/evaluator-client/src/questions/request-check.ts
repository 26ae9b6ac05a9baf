import type { EvaluationRequest } from "../evaluation.ts";
import { InvalidRequestError } from "../errors.ts";
import { perQuestion } from "./per-question.ts";
import { type Question, questionSchema } from "./question.ts";
import type { QuestionLimits } from "./question-limits.ts";
import { quoteName } from "./quote-name.ts";
import { isRecord } from "./record-of.ts";

/**
 * Makes the check of a request before anything is sent: it refuses what no service could answer
 * (contract section 2.1).
 *
 * @throws InvalidRequestError naming the question, or the place in the state.
 */
export function requestCheck(limits: QuestionLimits = {}): (request: EvaluationRequest) => void {
  const problemOf = perQuestion((question) => findProblem(question, limits));
  return (request) => {
    if (!isRequest(request)) {
      throw new InvalidRequestError("A request is an object with a state and questions, no more.");
    }
    checkState(request.state);
    const questions = Object.entries(request.questions);
    if (questions.length === 0) throw new InvalidRequestError("Ask at least one question.");
    for (const [questionId, question] of questions) {
      const problem = problemOf(question);
      if (problem === "") continue;
      const message = `The question ${quoteName(questionId)} ${problem}.`;
      throw new InvalidRequestError(message, { questionId });
    }
  };
}

function isRequest(request: unknown): boolean {
  if (!isRecord(request) || !isRecord(request["questions"])) return false;
  return Object.keys(request).every((key) => key === "state" || key === "questions");
}

/** What is wrong with a question, or nothing. */
function findProblem(question: Question, { maxOptions = 255, maxLevels = 10 }: QuestionLimits) {
  const issue = questionSchema.safeParse(question).error?.issues[0];
  if (issue !== undefined) {
    const where =
      issue.path.length === 0 ? "" : ` at ${quoteName(issue.path.map(String).join("."))}`;
    return `is not a choice, score or boolean question${where}: ${issue.message}`;
  }
  if (question.type === "boolean") return "";
  const [kind, most, option] =
    question.type === "choice"
      ? (["option", maxOptions, "maxOptions"] as const)
      : (["level", maxLevels, "maxLevels"] as const);
  const count = Object.keys(question.criteria).length;
  if (count === 0) return `has no ${kind}; give it at least one`;
  if (count <= most) return "";
  return `has ${count} ${kind}s, more than ${most}; a service that takes more needs questionLimits.${option}`;
}

function checkState(state: unknown): void {
  if (typeof state === "string") return;
  if (!isPlainObject(state)) refuseState("the state", "is neither a string nor a JSON object");
  checkJson(state, { path: "state", ancestors: new Set() });
}

interface Place {
  readonly path: string;
  readonly ancestors: Set<object>;
}

function checkJson(value: unknown, { path, ancestors }: Place): void {
  if (value === null || typeof value === "string" || typeof value === "boolean") return;
  if (typeof value === "number") {
    if (!Number.isFinite(value)) refuseState(path, "is a number that JSON cannot hold");
    return;
  }
  if (!Array.isArray(value) && !isPlainObject(value)) refuseState(path, "is not a JSON value");
  if (ancestors.has(value)) refuseState(path, "contains itself");
  ancestors.add(value);
  const isList = Array.isArray(value);
  for (const [key, item] of Object.entries(value)) {
    // JSON drops an undefined field but turns an undefined item into null.
    if (typeof item === "string" || (item === undefined && !isList)) continue;
    checkJson(item, { path: `${path}.${key}`, ancestors });
  }
  ancestors.delete(value);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

function refuseState(path: string, problem: string): never {
  const where = path === "the state" ? "The state" : `The state at ${quoteName(path)}`;
  throw new InvalidRequestError(`${where} ${problem}; send text or a JSON object.`);
}
