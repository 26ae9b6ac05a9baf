import type { Catalog } from "evaluator-client";
import type { ModelPrice } from "./model-price.ts";

/**
 * Reads the gateway's price list; a model without both prices is listed with none.
 *
 * @throws EvaluatorError when the list cannot be read, or the signal's reason.
 */
export async function loadPrices(
  catalog: Catalog,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ModelPrice | null>> {
  const models = await catalog.listModels({ signal });
  return new Map(models.map((model) => [model.id, toPrice(model)]));
}

function toPrice(model: {
  inputUsdPerMillionTokens: number | null;
  outputUsdPerMillionTokens: number | null;
}): ModelPrice | null {
  const { inputUsdPerMillionTokens, outputUsdPerMillionTokens } = model;
  if (inputUsdPerMillionTokens === null || outputUsdPerMillionTokens === null) return null;
  return { inputUsdPerMillionTokens, outputUsdPerMillionTokens };
}
