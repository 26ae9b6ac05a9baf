import {
  estimateInputTokens,
  estimateQuestionTokens,
  estimateStateTokens,
} from "./estimate-tokens.ts";
import type { EvaluationInput } from "./evaluation-input.ts";

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
    estimateStateTokens(input.state) + longestQuestion > maxStateTokens ||
    estimateInputTokens(input) > maxRequestTokens
  );
}
