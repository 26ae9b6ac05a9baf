import type { Content } from "./content.ts";
import type { QuestionInput } from "./kinds/kinds.ts";

/** An evaluation request, the same whichever wire it came over. */
export interface EvaluationInput {
  readonly state: Content;
  /** The keys of the images beside the state, in order; absent if it has none. */
  readonly images?: readonly string[];
  readonly questions: Readonly<Record<string, QuestionInput>>;
}

const encoder = new TextEncoder();
// Chosen, not measured: a rule of thumb for English, and a few tokens for the rest of a prompt.
const bytesPerToken = 4;
const frameTokens = 16;
// The vendor's bill for its smallest image, 280 × 280 pixels (unverified).
const imageTokens = 200;

/** Returns the tokens of a text, estimated at four UTF-8 bytes each; the real tokenizer is not public. */
export function estimateTextTokens(countedText: string): number {
  return Math.ceil(encoder.encode(countedText).length / bytesPerToken);
}

/** Counts instructions and criteria of questions, never their ids. */
function countTokens({ state, images = [], questions }: EvaluationInput) {
  const countedText = typeof state === "string" ? state : JSON.stringify(state);
  const each = Object.values(questions).map(({ instructions, criteria }) =>
    estimateTextTokens(JSON.stringify([instructions, criteria])),
  );
  return {
    state: estimateTextTokens(countedText) + images.length * imageTokens,
    questions: each.reduce((total, tokens) => total + tokens, 0),
    longestQuestion: Math.max(0, ...each),
  };
}

/** Returns the estimated input tokens of a whole request. */
export function estimateInputTokens(evaluationInput: EvaluationInput): number {
  const { state, questions } = countTokens(evaluationInput);
  return frameTokens + state + questions;
}

/** Most tokens of a state together with its longest question (contract section 8, field fact). */
const maxStateTokens = 32_000;
/** Most tokens of a whole request (field fact). */
const maxRequestTokens = 64_000;

/** Returns whether a request is longer than the model reads. */
export function isOverTokenLimits(evaluationInput: EvaluationInput): boolean {
  const { state, longestQuestion } = countTokens(evaluationInput);
  return (
    state + longestQuestion > maxStateTokens ||
    estimateInputTokens(evaluationInput) > maxRequestTokens
  );
}
