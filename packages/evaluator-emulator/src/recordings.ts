import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { printAgain, printedDecimals } from "./answers/print-answer.ts";
import type { AnswerSource, JudgedAnswer, Judgement } from "./answers/judgement.ts";
import { parseGatewayInput } from "./gateway/gateway-input.ts";
import { canonicalJson, isJsonRecord, mapRecord, recordOf } from "./json.ts";
import type { Content } from "./questions/content.ts";
import type { EvaluationInput } from "./questions/question.ts";
import { parseVendorInput } from "./vendor/vendor-input.ts";

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

const readers: readonly [
  pathEnd: string,
  read: (request: unknown, response: unknown) => Recording,
][] = [
  ["/evaluation-model", readGatewayRecording],
  ["/decision-model", readGatewayRecording],
  ["/v1/systemone", readVendorRecording],
];

/**
 * Answers a request as a recorded exchange did, over whichever wire either came.
 * Exchanges that are no successful evaluation are left out; of two for one request the first
 * counts.
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
    const answers = mapRecord(judgement.answers, (answer) => printAgain(answer, decimals));
    return { ...judgement, answers, decimals };
  };
}

/**
 * Returns the length of a state's JSON: cheap to know, and the order of keys does not change it.
 */
function lengthOf(state: Content): number {
  return JSON.stringify(state).length;
}

function readExchange({ request, response }: Exchange): Recording[] {
  const reader = readers.find(([pathEnd]) => request.path.endsWith(pathEnd));
  if (reader === undefined || response.status >= 300) return [];
  try {
    return [reader[1](request.body, response.body)];
  } catch {
    // A refusal or a response that breaks the contract is recorded for other tests.
    return [];
  }
}

/** A recorded exchange in the form every wire shares. */
interface Recording {
  readonly input: EvaluationInput;
  readonly judgement: Judgement;
}

const gatewayAnswerSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("choice"),
    choice: z.string(),
    probabilities: recordOf(z.number()),
  }),
  z.object({ type: z.literal("score"), score: z.number(), probabilities: recordOf(z.number()) }),
  z.object({ type: z.literal("boolean"), probability: z.number() }),
]);

const gatewayResponseSchema = z.object({
  answers: recordOf(gatewayAnswerSchema),
  usage: z.object({ inputTokens: z.int(), outputTokens: z.int() }),
  providerMetadata: recordOf(z.unknown()).optional(),
});

/**
 * Reads a recorded exchange with the gateway, of any generation of its wire.
 *
 * @throws {Error} when the request or the answers cannot be used again, such as a refusal.
 */
function readGatewayRecording(requestBody: unknown, responseBody: unknown): Recording {
  const { answers, usage, providerMetadata = {} } = gatewayResponseSchema.parse(responseBody);
  const confidence = findConfidence(providerMetadata);
  return {
    input: parseGatewayInput(requestBody, "decision-model"),
    judgement: {
      basis: "recorded",
      decimals: printedDecimals,
      release: null,
      answers: mapRecord(answers, (answer, id): JudgedAnswer =>
        answer.type === "boolean" ? answer : { ...answer, confidence: confidence(id) },
      ),
      usage,
    },
  };
}

/** Confidence is under the vendor's own key, whatever it is (contract section 2.5). */
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

const confidenceSchema = z
  .number()
  .optional()
  .transform((confidence) => confidence ?? null);

const vendorAnswerSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("choice"),
    choice: z.string(),
    probabilities: recordOf(z.number()),
    confidence: confidenceSchema,
  }),
  z.object({
    type: z.literal("score"),
    score: z.number(),
    probabilities: recordOf(z.number()),
    confidence: confidenceSchema,
  }),
  z.object({ type: z.literal("noul"), noul: z.number() }),
]);

const vendorResponseSchema = z.object({
  model: z.string().optional(),
  answers: recordOf(vendorAnswerSchema),
  usage: z.object({ input_tokens: z.int(), output_tokens: z.int() }),
});

/**
 * Reads a recorded exchange with the vendor's own API.
 *
 * @throws {Error} when the request or the answers cannot be used again.
 */
function readVendorRecording(requestBody: unknown, responseBody: unknown): Recording {
  const { model, answers, usage } = vendorResponseSchema.parse(responseBody);
  return {
    input: parseVendorInput(requestBody).input,
    judgement: {
      basis: "recorded",
      decimals: printedDecimals,
      release: model ?? null,
      answers: mapRecord(answers, (answer): JudgedAnswer =>
        answer.type === "noul" ? { type: "boolean", probability: answer.noul } : answer,
      ),
      usage: { inputTokens: usage.input_tokens, outputTokens: usage.output_tokens },
    },
  };
}
