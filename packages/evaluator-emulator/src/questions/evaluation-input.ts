import type { Content } from "./content.ts";
import type { QuestionInput } from "./kinds/kinds.ts";

/** An evaluation request, the same whichever wire it came over. */
export interface EvaluationInput {
  readonly state: Content;
  /** The keys of the images beside the state, in order; absent if it has none. */
  readonly images?: readonly string[];
  readonly questions: Readonly<Record<string, QuestionInput>>;
}

const texts = new WeakMap<QuestionInput, string>();

/** Returns a question's instructions and criteria as one JSON text, without its id. */
export function questionText(question: QuestionInput): string {
  const known = texts.get(question);
  if (known !== undefined) return known;
  const text = JSON.stringify([question.instructions, question.criteria]);
  texts.set(question, text);
  return text;
}

// Chosen, not measured: a rule of thumb for English, and a few tokens for the rest of a prompt.
const bytesPerToken = 4;
const frameTokens = 16;
// The vendor's bill for its smallest image, 280 × 280 pixels (unverified).
const imageTokens = 200;

/** Returns the tokens of a text, estimated at four UTF-8 bytes each; the real tokenizer is not public. */
export function estimateTextTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

// Needed when a request is admitted and again when it is answered.
const known = new WeakMap<EvaluationInput, ReturnType<typeof countTokens>>();

function tokensOf(input: EvaluationInput) {
  const counted = known.get(input) ?? countTokens(input);
  known.set(input, counted);
  return counted;
}

/** Counts instructions and criteria of questions, never their ids. */
function countTokens({ state, images = [], questions }: EvaluationInput) {
  const text = typeof state === "string" ? state : JSON.stringify(state);
  const each = Object.values(questions).map((question) =>
    estimateTextTokens(questionText(question)),
  );
  return {
    state: estimateTextTokens(text) + images.length * imageTokens,
    questions: each.reduce((total, tokens) => total + tokens, 0),
    longestQuestion: each.reduce((longest, tokens) => Math.max(longest, tokens), 0),
  };
}

/** Returns the estimated input tokens of a whole request. */
export function estimateInputTokens(input: EvaluationInput): number {
  const { state, questions } = tokensOf(input);
  return frameTokens + state + questions;
}

/** Most tokens of a state together with its longest question (contract section 8, field fact). */
const maxStateTokens = 32_000;
/** Most tokens of a whole request (field fact). */
const maxRequestTokens = 64_000;

/** Returns whether a request is longer than the model reads. */
export function isOverTokenLimits(input: EvaluationInput): boolean {
  const { state, longestQuestion } = tokensOf(input);
  return state + longestQuestion > maxStateTokens || estimateInputTokens(input) > maxRequestTokens;
}
