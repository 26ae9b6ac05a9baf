import { type Catalog, EvaluatorError } from "evaluator-client";
import { contractPriceUsd, type Price } from "./price.ts";

/** Where a model's price can be looked up. */
export interface PriceSource {
  /** The gateway's price list; null when the model is not reached through it. */
  readonly catalog: Catalog | null;
  readonly modelId: string;
  /** Ends the look-up. */
  readonly signal: AbortSignal;
}

/** Gives a model's price from the gateway's list, else the contract's, and says which it is. */
export async function findPrice({ catalog, modelId, signal }: PriceSource): Promise<Price> {
  if (catalog === null) return contractPrice("the documented price");
  try {
    const models = await catalog.listModels({ signal });
    const listed = models.find(({ id }) => id === modelId)?.inputUsdPerMillionTokens ?? null;
    if (listed === null) return contractPrice("the documented price; the gateway lists none");
    return { inputUsdPerMillionTokens: listed, source: "the gateway's price list" };
  } catch (error) {
    if (!(error instanceof EvaluatorError)) throw error;
    return contractPrice("the documented price; the gateway's list cannot be read");
  }
}

function contractPrice(source: string): Price {
  return { inputUsdPerMillionTokens: contractPriceUsd, source };
}
