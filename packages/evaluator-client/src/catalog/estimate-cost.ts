import { rejectOption } from "../options.ts";
import type { EvaluationRequest } from "../questions/request.ts";
import { estimateTokens } from "../questions/tokens.ts";
import type { Transport } from "../transports/transport.ts";

/** The estimated cost of requests. */
export interface CostEstimate {
  /** Requests counted. */
  requests: number;
  /** Calls of the model that they take, at most: a request may take several. */
  calls: number;
  /** Their input tokens, estimated from their length. */
  inputTokens: number;
  /** Their price in US dollars. */
  costUsd: number;
  /** Always true: the service counts tokens differently; `costUsd` of an evaluation is its own figure. */
  isEstimate: true;
}

/**
 * Estimates what requests will cost: tokens by `estimateTokens`, at the price of the list.
 * The evaluation model's price is for input (contract section 1). A given transport specifies the calls
 * of a request, and its output tokens if they are paid for.
 *
 * @throws {ConfigurationError} when the price is not a number from 0 up.
 * @example
 * ```ts
 * const { costUsd } = estimateCost(requests, { inputUsdPerMillionTokens: 0.042 });
 * ```
 */
export function estimateCost(
  requests: Iterable<EvaluationRequest>,
  {
    inputUsdPerMillionTokens,
    outputUsdPerMillionTokens = inputUsdPerMillionTokens,
    transport,
  }: {
    readonly inputUsdPerMillionTokens: number;
    /** @default the price of input */
    readonly outputUsdPerMillionTokens?: number;
    readonly transport?: Transport;
  },
): CostEstimate {
  checkPrice("inputUsdPerMillionTokens", inputUsdPerMillionTokens);
  checkPrice("outputUsdPerMillionTokens", outputUsdPerMillionTokens);
  let count = 0;
  let calls = 0;
  let inputTokens = 0;
  let outputTokens = 0;
  for (const request of requests) {
    const sent = transport?.estimate?.(request);
    count += 1;
    calls += sent?.calls ?? 1;
    inputTokens += sent?.inputTokens ?? estimateTokens(request);
    outputTokens += sent?.outputTokens ?? 0;
  }
  const costUsd =
    (inputTokens * inputUsdPerMillionTokens + outputTokens * outputUsdPerMillionTokens) / 1_000_000;
  return { requests: count, calls, inputTokens, costUsd, isEstimate: true };
}

function checkPrice(option: string, price: number): void {
  if (Number.isFinite(price) && price >= 0) return;
  rejectOption(option, "is not a price in US dollars; listModels gives it for each model");
}
