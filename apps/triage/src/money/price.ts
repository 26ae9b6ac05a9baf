import type { Evaluation } from "evaluator-client";

/** What input costs; output is free (contract section 1, rule 11). */
export interface Price {
  readonly inputUsdPerMillionTokens: number;
  /** Where that is from, as a person reads it. */
  readonly source: string;
}

/** The price that the contract names. */
export const contractPriceUsd = 0.042;

/** Gives what an answer has cost in US dollars: what the service says, else by its tokens. */
export function evaluationUsd({ costUsd, usage }: Evaluation, price: Price): number {
  return costUsd ?? (usage.inputTokens * price.inputUsdPerMillionTokens) / 1_000_000;
}
