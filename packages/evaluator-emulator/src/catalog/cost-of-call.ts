import type { CatalogModel } from "./models.ts";
import { pricePerToken, type Picodollars } from "./price.ts";

/** Tokens of one call. */
export interface CallTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** The market price of a call to a model. */
export function costOfCall(model: CatalogModel, tokens: CallTokens): Picodollars {
  return (
    tokens.inputTokens * pricePerToken(model.inputPerMillion) +
    tokens.outputTokens * pricePerToken(model.outputPerMillion)
  );
}
