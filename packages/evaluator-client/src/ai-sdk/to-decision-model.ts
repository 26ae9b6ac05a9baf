import type { Evaluator } from "../create-evaluator.ts";
import { callWarnings } from "./call-warnings.ts";
import type { DecisionModel } from "./decision-model.ts";
import { fromDecisionQuestions } from "./from-decision-questions.ts";
import { fromDecisionState } from "./from-decision-state.ts";
import { toDecisionResult } from "./to-decision-result.ts";

/** How the model is called where the `ai` package shows it. */
export interface DecisionModelOptions {
  /** The id in messages, and in results when the service names no model. @default "evaluator" */
  modelId?: string;
  /** The provider's name in messages. @default "evaluator-client" */
  provider?: string;
}

/**
 * Makes a decision model of the `ai` package out of an evaluator. Retries, limits and checks are
 * the evaluator's; its errors come out of `experimental_decide` as they are and are not retried
 * there again.
 *
 * @example
 * ```ts
 * const model = toDecisionModel(createEvaluator());
 * const { answers } = await experimental_decide({
 *   model,
 *   state: "Your invoice is attached.",
 *   questions: { scam: { type: "boolean", instructions: "Does it look like a scam?" } },
 * });
 * ```
 */
export function toDecisionModel(
  evaluator: Evaluator,
  { modelId = "evaluator", provider = "evaluator-client" }: DecisionModelOptions = {},
): DecisionModel {
  return {
    specificationVersion: "v4",
    provider,
    modelId,
    supportedQuestionTypes: ["choice", "score", "boolean"],
    async doDecide(call) {
      const { abortSignal } = call;
      const state = fromDecisionState(call.state);
      const questions = fromDecisionQuestions(call.questions);
      const options = abortSignal === undefined ? {} : { signal: abortSignal };
      const evaluation = await evaluator.evaluate({ state, questions }, options);
      return toDecisionResult(evaluation, callWarnings(call, state));
    },
  };
}
