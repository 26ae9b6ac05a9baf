import * as z from "zod/mini";
import { parseGatewayInput } from "./gateway/gateway-input.ts";
import { isJsonRecord, mapped, mapRecord, toRecord } from "./json.ts";
import type { EvaluationInput } from "./questions/evaluation-input.ts";
import { answerSchema, toKind } from "./questions/kinds/kinds.ts";
import { parseVendorInput } from "./vendor/vendor-input.ts";
import { printedDecimals } from "./answers/answer-request.ts";
import type { Judgement } from "./answers/judgement.ts";

/** A recorded request and its response. */
export interface Exchange {
  /** The path of its file without `.json`, such as `gateway/rate-limited`. */
  readonly name: string;
  readonly description?: string;
  readonly provenance?: object;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: unknown;
  };
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: unknown;
  };
}

/**
 * Returns the judgement of a recorded exchange for a request, whichever wire either used. Exchanges
 * that are no successful evaluation are skipped; of two for one request the first counts.
 */
export function recordedAnswers(exchanges: readonly Exchange[]) {
  const recordedMap = new Map(exchanges.flatMap(readExchange).toReversed());
  return (evaluationInput: EvaluationInput): Judgement | null =>
    (recordedMap.size > 0 && recordedMap.get(toText(evaluationInput))) || null;
}

/** Returns the JSON of a request with sorted keys, which is equal for equal requests. */
function toText(evaluationInput: EvaluationInput): string {
  return JSON.stringify(evaluationInput, (_, value: unknown) => {
    if (!isJsonRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}

const responseSchema = z.object({
  /** The vendor's release. */
  model: z.optional(z.string()),
  answers: toRecord(answerSchema),
  usage: z.union([
    z.object({ inputTokens: z.int(), outputTokens: z.int() }),
    mapped(
      z.object({ input_tokens: z.int(), output_tokens: z.int() }),
      ({ input_tokens: inputTokens, output_tokens: outputTokens }) => {
        return { inputTokens, outputTokens };
      },
    ),
  ]),
  providerMetadata: z.prefault(toRecord(z.unknown()), {}),
});

function readExchange({ request, response }: Exchange): [string, Judgement][] {
  const isVendor = request.path.endsWith("/v1/systemone");
  if (
    response.status >= 300 ||
    !(isVendor || /\/(?:evaluation|decision)-model$/.test(request.path))
  ) {
    return [];
  }
  try {
    const { model, answers, usage, providerMetadata } = responseSchema.parse(response.body);
    const confidence = findConfidence(providerMetadata);
    const evaluationInput = isVendor
      ? parseVendorInput(request.body).input
      : parseGatewayInput(request.body, "decision-model");
    const judgement: Judgement = {
      basis: "recorded",
      decimals: printedDecimals,
      release: isVendor ? (model ?? null) : null,
      answers: mapRecord(answers, (judgedAnswer, questionId) =>
        isVendor || !toKind(judgedAnswer).isDistribution
          ? judgedAnswer
          : { ...judgedAnswer, confidence: confidence(questionId) },
      ),
      usage,
    };
    return [[toText(evaluationInput), judgement]];
  } catch {
    // A refusal or a response that breaks the contract is recorded for other tests.
    return [];
  }
}

/** Finds confidences under the vendor's own key, whatever its name (contract section 2.5). */
function findConfidence(
  providerMetadata: Record<string, unknown>,
): (questionId: string) => number | null {
  const byId = Object.entries(providerMetadata)
    .filter(([provider]) => provider !== "gateway")
    .map(([, metadata]) => (isJsonRecord(metadata) ? metadata["confidence"] : undefined))
    .find(isJsonRecord);
  return (questionId) => {
    const confidenceValue =
      byId !== undefined && Object.hasOwn(byId, questionId) ? byId[questionId] : null;
    return typeof confidenceValue === "number" ? confidenceValue : null;
  };
}
