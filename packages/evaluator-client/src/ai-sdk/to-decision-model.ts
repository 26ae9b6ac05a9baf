import { checkOptions, optionsNamed } from "../options.ts";
import type { Evaluator } from "../evaluator.ts";
import {
  callWarnings,
  type DecisionModel,
  type DecisionResult,
  type DecisionWarning,
  fromDecisionQuestions,
  fromDecisionState,
  supportedQuestionTypes,
} from "./from-decision-call.ts";
import type { Evaluation } from "../evaluation.ts";
import { isRecord } from "../questions/json.ts";

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
 * @throws {ConfigurationError} when there is no such option.
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
  options: DecisionModelOptions = {},
): DecisionModel {
  checkOptions(optionsNamed("modelId", "provider"), options);
  const { modelId = "evaluator", provider = "evaluator-client" } = options;
  return {
    specificationVersion: "v4",
    provider,
    modelId,
    supportedQuestionTypes,
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

/** A checked evaluation in the form of the `ai` package. */
function toDecisionResult(
  evaluation: Evaluation,
  warnings: readonly DecisionWarning[],
): DecisionResult {
  const { answers, rounding, usage, providerMetadata, requestId, modelId, raw } = evaluation;
  return {
    answers,
    rounding,
    usage,
    warnings: [...warnings, ...evaluation.warnings.map(toWarning)],
    providerMetadata: providerMetadata as NonNullable<DecisionResult["providerMetadata"]>,
    response: {
      ...(requestId !== null && { id: requestId }),
      ...(modelId !== null && { modelId }),
      body: raw,
    },
  };
}

/** A warning of the service as it came, or in words when it is not in the package's form. */
function toWarning(warning: unknown): DecisionWarning {
  if (isRecord(warning) && typeof warning["type"] === "string") return warning as DecisionWarning;
  return {
    type: "other",
    message: typeof warning === "string" ? warning : JSON.stringify(warning),
  };
}
