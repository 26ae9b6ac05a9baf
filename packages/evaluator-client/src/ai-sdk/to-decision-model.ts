import { checkOptions, optionsNamed } from "../options.ts";
import type { Evaluator } from "../evaluator.ts";
import {
  type DecisionModel,
  fromDecisionCall,
  supportedQuestionTypes,
} from "./from-decision-call.ts";
import type { Evaluation } from "../evaluation.ts";
import { isRecord } from "../questions/json.ts";

type DecisionResult = Awaited<ReturnType<DecisionModel["doDecide"]>>;
type DecisionWarning = DecisionResult["warnings"][number];

/** The model's names in the `ai` package. */
export interface DecisionModelOptions {
  /** The id in messages, and in results if the service names no model. @default "evaluator" */
  modelId?: string;
  /** The provider's name in messages. @default "evaluator-client" */
  provider?: string;
}

/**
 * Makes a decision model of the `ai` package from an evaluator, with the evaluator's retries, limits
 * and checks. `experimental_decide` throws the evaluator's errors and does not retry them.
 *
 * @throws {ConfigurationError} if an option is unknown.
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
      const { request, warnings } = fromDecisionCall(call);
      const { abortSignal: signal } = call;
      const evaluation = await evaluator.evaluate(request, signal === undefined ? {} : { signal });
      return toDecisionResult(evaluation, warnings);
    },
  };
}

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

/** Returns a warning of the service, as text if it does not have the package's form. */
function toWarning(warning: unknown): DecisionWarning {
  if (isRecord(warning) && typeof warning["type"] === "string") return warning as DecisionWarning;
  return {
    type: "other",
    message: typeof warning === "string" ? warning : JSON.stringify(warning),
  };
}
