import { imageTokens } from "./images.ts";
import { type EvaluationInput, type QuestionInput, questionText } from "./question.ts";

const bytesPerToken = 4;
const frameTokens = 16;

/** Tokens of a text, estimated at four UTF-8 bytes each; the real tokenizer is not public. */
export function estimateTextTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

/** Estimated tokens of a state, key names and punctuation of an object included, and of its images. */
function estimateStateTokens({ state, images = [] }: EvaluationInput): number {
  const text = typeof state === "string" ? state : JSON.stringify(state);
  return estimateTextTokens(text) + images.length * imageTokens;
}

/** Estimated tokens of one question: its instructions and criteria, never its id. */
function estimateQuestionTokens(question: QuestionInput): number {
  return estimateTextTokens(questionText(question));
}

/** Estimated input tokens of a whole request: state, questions and a fixed frame. */
export function estimateInputTokens(input: EvaluationInput): number {
  const questionTokens = Object.values(input.questions).map(estimateQuestionTokens);
  return (
    frameTokens +
    estimateStateTokens(input) +
    questionTokens.reduce((total, tokens) => total + tokens, 0)
  );
}

/** Most tokens of a state together with its longest question (contract section 8, field fact). */
const maxStateTokens = 32_000;
/** Most tokens of a whole request (field fact). */
const maxRequestTokens = 64_000;

/** Whether a request is longer than the model reads. */
export function isOverTokenLimits(input: EvaluationInput): boolean {
  const longestQuestion = Object.values(input.questions)
    .map(estimateQuestionTokens)
    .reduce((longest, tokens) => Math.max(longest, tokens), 0);
  return (
    estimateStateTokens(input) + longestQuestion > maxStateTokens ||
    estimateInputTokens(input) > maxRequestTokens
  );
}
