import type { RateLimits } from "evaluator-client";
import type { Price } from "./price.ts";
import { printCount, printDuration, printMails, printUsd } from "./print-amounts.ts";

// One call with its way there and back; the model itself answers faster (contract section 2.5).
const MS_PER_CALL = 300;

/** What a run will take, before anything is sent. */
export interface RunEstimate {
  readonly mails: number;
  readonly inputTokens: number;
  readonly costUsd: number;
  readonly durationMs: number;
  readonly price: Price;
}

/** Estimates what calls with so many input tokens will take. */
export function estimateRun(
  { mails, inputTokens }: Pick<RunEstimate, "mails" | "inputTokens">,
  { concurrency, limits, price }: { concurrency: number; limits: RateLimits; price: Price },
): RunEstimate {
  const costUsd = (inputTokens * price.inputUsdPerMillionTokens) / 1_000_000;
  const underWayMs = (mails * MS_PER_CALL) / concurrency;
  const limitedMs = (mails * 60_000) / (limits.requestsPerMinute ?? Number.POSITIVE_INFINITY);
  return { mails, inputTokens, costUsd, durationMs: Math.max(underWayMs, limitedMs), price };
}

/** Says what a run will take, in one line. */
export function describeEstimate(estimate: RunEstimate, kept: number): string {
  const { mails, inputTokens, costUsd, durationMs, price } = estimate;
  const journal = kept === 0 ? "" : `; ${printCount(kept)} answered already`;
  const perMillion = printUsd(price.inputUsdPerMillionTokens);
  const basis = mails === 0 ? "" : ` (${perMillion} a million tokens: ${price.source})`;
  return (
    `To ask: ${printMails(mails)}, about ${printCount(inputTokens)} tokens, ` +
    `${printUsd(costUsd)}${basis}, ${printDuration(durationMs)}${journal}.\n`
  );
}
