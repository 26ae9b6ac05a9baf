import type { Evaluation } from "../evaluation.ts";
import { isRecord } from "../questions/record-of.ts";
import type { DecisionResult, DecisionWarning } from "./decision-model.ts";

/** A checked evaluation in the form of the `ai` package. */
export function toDecisionResult(
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
