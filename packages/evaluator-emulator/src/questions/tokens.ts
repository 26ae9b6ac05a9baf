import { imageTokens } from "./images.ts";
import { type EvaluationInput, questionText } from "./question.ts";

// Chosen, not measured: a rule of thumb for English, and a few tokens for what a prompt adds.
const bytesPerToken = 4;
const frameTokens = 16;

/** Returns the tokens of a text, estimated at four UTF-8 bytes each; the real tokenizer is not public. */
export function estimateTextTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

/** Estimated tokens of a state, key names and punctuation of an object included, and of its images. */
function estimateStateTokens({ state, images = [] }: EvaluationInput): number {
  const text = typeof state === "string" ? state : JSON.stringify(state);
  return estimateTextTokens(text) + images.length * imageTokens;
}

/** Estimated tokens of the parts of a request. */
interface InputTokens {
  readonly state: number;
  /** Instructions and criteria of all questions, never their ids. */
  readonly questions: number;
  readonly longestQuestion: number;
}

// Asked for when a request is admitted and again when it is answered.
const known = new WeakMap<EvaluationInput, InputTokens>();

function tokensOf(input: EvaluationInput): InputTokens {
  const counted = known.get(input) ?? countTokens(input);
  known.set(input, counted);
  return counted;
}

function countTokens(input: EvaluationInput): InputTokens {
  const each = Object.values(input.questions).map((question) =>
    estimateTextTokens(questionText(question)),
  );
  return {
    state: estimateStateTokens(input),
    questions: each.reduce((total, tokens) => total + tokens, 0),
    longestQuestion: each.reduce((longest, tokens) => Math.max(longest, tokens), 0),
  };
}

/** Returns the estimated input tokens of a whole request: state, questions and a fixed frame. */
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
