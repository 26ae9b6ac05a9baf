import { checkPrice } from "../options.ts";
import { type EvaluationRequest, repeatedQuestions } from "../questions/request.ts";
import { estimateCall } from "../transports/call-estimate.ts";
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
 * @throws {ConfigurationError} when the price is not one of a million tokens in US dollars.
 * @example
 * ```ts
 * const { costUsd } = estimateCost(requests, { inputUsdPerMillionTokens: 0.042 });
 * ```
 */
export function estimateCost(
  requests: Iterable<EvaluationRequest>,
  options: CostOptions,
): CostEstimate {
  const { costOf, transport } = readPrices(options);
  let count = 0;
  let calls = 0;
  let inputTokens = 0;
  let outputTokens = 0;
  for (const request of requests) {
    const boundedEstimate = estimateRepeated(request, transport);
    count += 1;
    calls += boundedEstimate.calls;
    inputTokens += boundedEstimate.inputTokens;
    outputTokens += boundedEstimate.outputTokens ?? 0;
  }
  const costUsd = costOf(inputTokens, outputTokens);
  return { requests: count, calls, inputTokens, costUsd, isEstimate: true };
}

/**
 * Returns the most US dollars that one attempt of a request may cost, whatever the tokenizer of the service:
 * each UTF-8 byte is a token, and the service may add a prompt of 256. OpenAI's and Google's forms add 64 for each
 * question and 32 for each option and level.
 *
 * @throws {ConfigurationError} when the price is not one of a million tokens in US dollars.
 */
export function mostCostUsd(request: EvaluationRequest, options: CostOptions): number {
  const { costOf, transport } = readPrices(options);
  const { mostInputTokens, outputTokens = 0 } = estimateRepeated(request, transport);
  return costOf(mostInputTokens, outputTokens);
}

// Runs estimate the same questions for each record.
function estimateRepeated({ state, questions }: EvaluationRequest, transport?: Transport) {
  return estimateCall({ state, questions: repeatedQuestions(questions) }, transport);
}

/** The price of requests. */
export interface CostOptions {
  readonly inputUsdPerMillionTokens: number;
  /** @default the price of input */
  readonly outputUsdPerMillionTokens?: number;
  readonly transport?: Transport;
}

function readPrices({
  inputUsdPerMillionTokens: input,
  outputUsdPerMillionTokens: output = input,
  transport,
}: CostOptions) {
  checkPrice("inputUsdPerMillionTokens", input);
  checkPrice("outputUsdPerMillionTokens", output);
  const toCost = (inputTokens: number, outputTokens: number) =>
    (inputTokens * input + outputTokens * output) / 1_000_000;
  return { costOf: toCost, transport };
}
