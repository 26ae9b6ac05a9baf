import { questionText } from "./question-text.ts";
import type { Content, EvaluationInput, QuestionInput } from "./evaluation-input.ts";

const bytesPerToken = 4;
const frameTokens = 16;

/** Tokens of a text, estimated at four UTF-8 bytes each; the real tokenizer is not public. */
export function estimateTextTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

/** Estimated tokens of a state, key names and punctuation of an object included. */
export function estimateStateTokens(state: Content): number {
  return estimateTextTokens(typeof state === "string" ? state : JSON.stringify(state));
}

/** Estimated tokens of one question: its instructions and criteria, never its id. */
export function estimateQuestionTokens(question: QuestionInput): number {
  return estimateTextTokens(questionText(question));
}

/** Estimated input tokens of a whole request: state, questions and a fixed frame. */
export function estimateInputTokens({ state, questions }: EvaluationInput): number {
  const questionTokens = Object.values(questions).map(estimateQuestionTokens);
  return (
    frameTokens +
    estimateStateTokens(state) +
    questionTokens.reduce((total, tokens) => total + tokens, 0)
  );
}
