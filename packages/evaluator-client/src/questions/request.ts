import * as z from "zod/mini";
import { InvalidRequestError } from "../errors.ts";
import { constantQuestions, perQuestions, rememberQuestions } from "./constant-questions.ts";
import { isRecord, recordOf } from "./json.ts";
import { type Question, type QuestionLimits, type Questions, quoteName } from "./question.ts";
import { questionSchema } from "./question-schema.ts";
import { checkParts, imagesIn, type ImageSupport, type State, withoutImageBytes } from "./state.ts";

/** The body of an evaluation request (contract section 2.1). */
export const evaluationRequestSchema = z.strictObject({
  state: z.union([z.string(), recordOf(z.json())]),
  questions: recordOf(questionSchema),
});
/** What to ask: a state, and questions about it (contract section 2.1). */
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
 * Makes the check of a request before anything is sent: it refuses what no service could answer
 * (contract section 2.1), or this one could not where it is about images, and gives the request with {@link constantQuestions} where it can.
 *
 * @throws InvalidRequestError naming the question, or the place in the state.
 */
export function requestParser(
  limits: QuestionLimits = {},
  images?: ImageSupport,
): (request: EvaluationRequest) => EvaluationRequest {
  const problemOf = perQuestions((questions) => findProblem(questions, limits));
  return (request) => {
    if (!isRequest(request)) {
      throw new InvalidRequestError("A request is an object with a state and questions, no more.");
    }
    const { state } = request;
    checkState(state, images);
    const questions = constantQuestions(request.questions);
    const { message, questionId } = problemOf(questions);
    if (message !== null) throw new InvalidRequestError(message, { questionId });
    if (questions === request.questions) rememberQuestions(questions);
    return { state, questions };
  };
}

function isRequest(request: unknown): boolean {
  if (!isRecord(request) || !isRecord(request["questions"])) return false;
  return Object.keys(request).every((key) => key === "state" || key === "questions");
}

interface Problem {
  readonly message: string | null;
  readonly questionId: string | null;
}

const noProblem: Problem = { message: null, questionId: null };

/** The first thing that is wrong with questions. */
function findProblem(questions: Questions, limits: QuestionLimits): Problem {
  const entries = Object.entries(questions);
  if (entries.length === 0) return { message: "Ask at least one question.", questionId: null };
  for (const [questionId, question] of entries) {
    const problem = problemOfOne(question, limits);
    if (problem === null) continue;
    return { message: `The question ${quoteName(questionId)} ${problem}.`, questionId };
  }
  return noProblem;
}

function problemOfOne(
  question: Question,
  { maxOptions = 255, maxLevels = 10 }: QuestionLimits,
): string | null {
  const issue = questionSchema.safeParse(question).error?.issues[0];
  if (issue !== undefined) {
    const where =
      issue.path.length === 0 ? "" : ` at ${quoteName(issue.path.map(String).join("."))}`;
    return `is not a choice, score or boolean question${where}: ${issue.message}`;
  }
  if (question.type === "boolean") return null;
  const [kind, most, option] =
    question.type === "choice"
      ? (["option", maxOptions, "maxOptions"] as const)
      : (["level", maxLevels, "maxLevels"] as const);
  const count = Object.keys(question.criteria).length;
  if (count === 0) return `has no ${kind}; give it at least one`;
  if (count <= most) return null;
  return `has ${count} ${kind}s, more than ${most}; a service that takes more needs questionLimits.${option}`;
}

function checkState(state: unknown, images: ImageSupport | undefined): void {
  if (typeof state === "string") return;
  if (!isPlainObject(state)) {
    if (Array.isArray(state)) return checkParts(state, images, whatJsonCannotHold);
    refuseState("The state", "is neither a string nor a JSON object");
  }
  const flaw = findFlaw(state, []);
  if (flaw !== null) refuseState(`The state at ${quoteName(`state${flaw.path}`)}`, flaw.what);
}

function refuseState(where: string, what: string): never {
  throw new InvalidRequestError(`${where} ${what}; send text or a JSON object.`);
}

function whatJsonCannotHold(value: unknown): string | null {
  const flaw = findFlaw(value, []);
  return flaw === null ? null : `has JSON that at ${quoteName(`json${flaw.path}`)} ${flaw.what}`;
}

interface Flaw {
  readonly path: string;
  readonly what: string;
}

/** The first thing in a value that JSON cannot hold, or null. */
function findFlaw(value: unknown, ancestors: object[]): Flaw | null {
  if (value === null || typeof value === "string" || typeof value === "boolean") return null;
  if (typeof value === "number") {
    return Number.isFinite(value) ? null : { path: "", what: "is a number that JSON cannot hold" };
  }
  const isList = Array.isArray(value);
  if (!isList && !isPlainObject(value)) return { path: "", what: "is not a JSON value" };
  if (ancestors.includes(value)) return { path: "", what: "contains itself" };
  ancestors.push(value);
  for (const key of Object.keys(value)) {
    const item = (value as Record<string, unknown>)[key];
    // JSON drops an undefined field but turns an undefined item into null.
    if (typeof item === "string" || (item === undefined && !isList)) continue;
    const flaw = findFlaw(item, ancestors);
    if (flaw !== null) return { path: `.${key}${flaw.path}`, what: flaw.what };
  }
  ancestors.pop();
  return null;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

const CHARACTERS_PER_TOKEN = 4;
const FRAME = '{"state": , "questions": }'.length;

// What the vendor counts for its largest image of 1568 × 1568 pixels, by third parties' bills (unverified).
const MOST_TOKENS_OF_AN_IMAGE = 6272;

/**
 * An estimate of a request's input tokens: a quarter of its JSON's characters, not the service's
 * count; an image counts as 6,272, the most that one is known to come to.
 */
export function estimateTokens({ state, questions }: EvaluationRequest): number {
  const read = withoutImageBytes(state);
  const characters = FRAME + charactersIn(read) + charactersInQuestions(questions);
  const imageTokens = imagesIn(state).length * MOST_TOKENS_OF_AN_IMAGE;
  return Math.ceil(characters / CHARACTERS_PER_TOKEN) + imageTokens;
}

const charactersInQuestions = perQuestions(charactersIn);

function charactersIn(value: unknown): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 4;
  let characters = 2;
  for (const [key, item] of Object.entries(value))
    characters += key.length + 4 + charactersIn(item);
  return characters;
}

// Text of any language has fewer characters to a token; a word is at least one.
const MOST_CHARACTERS_PER_TOKEN = 8;
const FEWEST_CHARACTERS_PER_WORD = 2;
const MOST_TOKENS = 32_000;

/** Returns whether a state is over the service's 32k tokens (contract section 8), however it counts. */
export function isSurelyTooLong(state: unknown): boolean {
  const read = withoutImageBytes(state);
  const characters = textIn(read);
  if (characters < MOST_TOKENS * FEWEST_CHARACTERS_PER_WORD) return false;
  if (characters > MOST_TOKENS * MOST_CHARACTERS_PER_TOKEN) return true;
  return wordsIn(read) > MOST_TOKENS;
}

function textIn(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  let characters = 0;
  for (const key in value) characters += textIn((value as Record<string, unknown>)[key]);
  return characters;
}

function wordsIn(value: unknown): number {
  if (typeof value === "string") return value.match(/\p{L}+/gu)?.length ?? 0;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((words: number, item) => words + wordsIn(item), 0);
}

const graphemes = /* @__PURE__ */ new Intl.Segmenter("en", { granularity: "grapheme" });
const LONGEST_CHARACTER = 64;

/**
 * Cuts text to at most `maxCharacters` UTF-16 code units, without splitting what a reader sees as
 * one character; for texts that may be longer than the model reads (contract section 8).
 *
 * @example
 * ```ts
 * const state = { user_message: cutText(message, 20_000) };
 * ```
 */
export function cutText(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const start = graphemes.segment(text).containing(maxCharacters)?.index ?? 0;
  if (maxCharacters - start <= LONGEST_CHARACTER) return text.slice(0, start);
  // A pile of combining marks counts as one character, however long; only pairs stay whole in it.
  const splitsPair = (text.codePointAt(maxCharacters - 1) ?? 0) > 0xffff;
  return text.slice(0, splitsPair ? maxCharacters - 1 : maxCharacters);
}
