import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { parseGatewayInput } from "./gateway/gateway-input.ts";
import { isJsonRecord, mapRecord, recordOf } from "./json.ts";
import type { Content } from "./questions/content.ts";
import type { EvaluationInput } from "./questions/evaluation-input.ts";
import { answerSchema, kindOf } from "./questions/kinds/kinds.ts";
import { parseVendorInput } from "./vendor/vendor-input.ts";
import { printedDecimals, roundAnswer } from "./answers/answer-request.ts";
import type { AnswerSource, Judgement } from "./answers/judgement.ts";

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

/** Reads the exchanges that come with the emulator, sorted by name. */
export function loadExchanges(): Exchange[] {
  const folder = fileURLToPath(import.meta.resolve("evaluator-fixtures/exchanges"));
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".json"))
    .map((file) => file.slice(0, -".json".length).split(sep).join("/"))
    .toSorted()
    .map((name) => {
      const text = readFileSync(join(folder, `${name}.json`), "utf8");
      const { request, response } = JSON.parse(text) as Exchange;
      return { name, request, response };
    });
}

/**
 * Answers a request as a recorded exchange did, whichever wire either used. Exchanges that are no
 * successful evaluation are skipped; of two for one request the first counts.
 */
export function recordedAnswers(exchanges: readonly Exchange[]): AnswerSource {
  const judgements = new Map<string, Judgement>();
  const lengths = new Set<number>();
  for (const { input, judgement } of exchanges.flatMap(readExchange)) {
    const key = canonicalJson(input);
    if (!judgements.has(key)) judgements.set(key, judgement);
    lengths.add(lengthOf(input.state));
  }
  return (input, decimals) => {
    if (!lengths.has(lengthOf(input.state))) return null;
    const judgement = judgements.get(canonicalJson(input)) ?? null;
    if (judgement === null || judgement.decimals <= decimals) return judgement;
    const answers = mapRecord(judgement.answers, (answer) => roundAnswer(answer, decimals));
    return { ...judgement, answers, decimals };
  };
}

/** Returns the length of a state's JSON: cheap, and independent of the order of keys. */
function lengthOf(state: Content): number {
  return JSON.stringify(state).length;
}

/** Returns the JSON text of a value with sorted keys, so that equal data is equal text. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, nested: unknown) =>
    isJsonRecord(nested)
      ? Object.fromEntries(
          Object.entries(nested).toSorted(([left], [right]) => (left < right ? -1 : 1)),
        )
      : nested,
  );
}

interface Recording {
  readonly input: EvaluationInput;
  readonly judgement: Judgement;
}

const readers: Readonly<Record<string, (request: unknown, response: unknown) => Recording>> = {
  "evaluation-model": readGatewayRecording,
  "decision-model": readGatewayRecording,
  systemone: readVendorRecording,
};

function readExchange({ request, response }: Exchange): Recording[] {
  const reader = readers[request.path.split("/").at(-1) ?? ""];
  if (reader === undefined || response.status >= 300) return [];
  try {
    return [reader(request.body, response.body)];
  } catch {
    // A refusal or a response that breaks the contract is recorded for other tests.
    return [];
  }
}

const gatewayResponseSchema = z.object({
  answers: recordOf(answerSchema),
  usage: z.object({ inputTokens: z.int(), outputTokens: z.int() }),
  providerMetadata: recordOf(z.unknown()).optional(),
});

/** Reads a recorded exchange with the gateway. @throws {Error} if it cannot be used again. */
function readGatewayRecording(requestBody: unknown, responseBody: unknown): Recording {
  const { answers, usage, providerMetadata = {} } = gatewayResponseSchema.parse(responseBody);
  const confidence = findConfidence(providerMetadata);
  return {
    input: parseGatewayInput(requestBody, "decision-model"),
    judgement: {
      basis: "recorded",
      decimals: printedDecimals,
      release: null,
      answers: mapRecord(answers, (answer, id) => {
        return { ...answer, confidence: kindOf(answer).isDistribution ? confidence(id) : null };
      }),
      usage,
    },
  };
}

/** Finds confidences under the vendor's own key, whatever its name (contract section 2.5). */
function findConfidence(providerMetadata: Record<string, unknown>): (id: string) => number | null {
  const byId = Object.entries(providerMetadata)
    .filter(([provider]) => provider !== "gateway")
    .map(([, metadata]) => (isJsonRecord(metadata) ? metadata["confidence"] : undefined))
    .find(isJsonRecord);
  return (id) => {
    const value = byId !== undefined && Object.hasOwn(byId, id) ? byId[id] : null;
    return typeof value === "number" ? value : null;
  };
}

const vendorResponseSchema = z.object({
  model: z.string().optional(),
  answers: recordOf(answerSchema),
  usage: z.object({ input_tokens: z.int(), output_tokens: z.int() }),
});

/** Reads a recorded exchange with the vendor. @throws {Error} if it cannot be used again. */
function readVendorRecording(requestBody: unknown, responseBody: unknown): Recording {
  const { model, answers, usage } = vendorResponseSchema.parse(responseBody);
  return {
    input: parseVendorInput(requestBody).input,
    judgement: {
      basis: "recorded",
      decimals: printedDecimals,
      release: model ?? null,
      answers,
      usage: { inputTokens: usage.input_tokens, outputTokens: usage.output_tokens },
    },
  };
}
