import type { Catalog, CatalogModel } from "evaluator-client";
import { givenOf } from "../conversation/conversation.ts";
import type { ModelPrice } from "./usage.ts";

/** Reads the price of each listed model, null if a part is missing. @throws EvaluatorError */
export async function readPriceList(catalog: Catalog, signal: AbortSignal) {
  const models = await catalog.listModels({ signal });
  return new Map(models.map((model) => [model.id, toPrice(model)]));
}

function toPrice(model: CatalogModel): ModelPrice | null {
  const { inputUsdPerMillionTokens, outputUsdPerMillionTokens } = model;
  const { cacheReadUsdPerMillionTokens, cacheWriteUsdPerMillionTokens } = model;
  if (inputUsdPerMillionTokens === null || outputUsdPerMillionTokens === null) return null;
  return {
    inputUsdPerMillionTokens,
    outputUsdPerMillionTokens,
    ...givenOf({ cacheReadUsdPerMillionTokens, cacheWriteUsdPerMillionTokens }),
  };
}
