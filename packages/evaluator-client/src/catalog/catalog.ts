/// <reference lib="esnext.disposable" preserve="true" />
import * as z from "zod/mini";
import { InvalidRequestError, InvalidResponseError } from "../errors.ts";
import { quoteName } from "../questions/json.ts";
import { checkOptions, optionsNamed } from "../options.ts";
import { type CallLimits, callLimits, callSchemas } from "../evaluator-options.ts";
import { createPacer } from "../pacing/pacer.ts";
import { type EvaluatorRuntime, readRuntime } from "../clock.ts";
import { RetriedCall } from "../retry/retried-call.ts";
import { gatewaySources, toGatewayError } from "../transports/gateway/gateway-access.ts";
import {
  checkTransportOptions,
  httpClientFor,
  mergeHeaders,
  prepareJson,
  readBaseUrl,
  readHeaderOption,
  type TransportOptions,
} from "../transports/post-transport.ts";
import type { AttemptContext } from "../transports/transport.ts";

/** One model of the gateway's price list (contract section 4.2). */
export interface CatalogModel {
  /** `<creator>/<model>`, as other options take it. */
  id: string;
  /** The gateway's word for its purpose, such as `language` or `evaluation`, or null. */
  type: string | null;
  /** Its display name, or null. */
  name: string | null;
  /** Input and output tokens of one call together, or null if unknown. */
  contextWindow: number | null;
  /** US dollars per million input tokens, or null when not listed. */
  inputUsdPerMillionTokens: number | null;
  /** US dollars per million output tokens, or null when not listed. */
  outputUsdPerMillionTokens: number | null;
  /** US dollars per million input tokens that a cache had, or null when not listed. */
  cacheReadUsdPerMillionTokens: number | null;
  /** US dollars per million input tokens that a cache keeps, or null when not listed. */
  cacheWriteUsdPerMillionTokens: number | null;
  /** The unchanged record; its prices are per token, or per million as in the contract. */
  raw: unknown;
}

/** One way the gateway reaches a model (contract section 4.3). */
export interface ModelEndpoint extends Pick<
  CatalogModel,
  "inputUsdPerMillionTokens" | "outputUsdPerMillionTokens" | "raw"
> {
  /** Who serves the model, or null. */
  providerName: string | null;
  /** Zero data retention: a boolean or a word such as `all`, or null. */
  zdr: boolean | string | null;
  /** No training on the data: a boolean or a word such as `all`, or null. */
  noTraining: boolean | string | null;
  /** Whether repeated input is cached automatically: a boolean or a word, or null. */
  supportsImplicitCaching: boolean | string | null;
}

/** The account's balance (contract section 4.4). */
export interface Credits {
  /** Credit left, in US dollars. */
  balanceUsd: number;
  /** Credit used so far, in US dollars. */
  totalUsedUsd: number;
  /** The unchanged record. */
  raw: unknown;
}

/** Options of one look-up. */
export interface LookUpOptions {
  /** Ends the look-up at once; its reason is thrown unchanged. */
  signal?: AbortSignal | undefined;
}

/** Looks up the gateway's models and your credits; every look-up is free. */
export interface Catalog extends AsyncDisposable {
  /**
   * Lists every model with its prices; no key is needed, and none is sent.
   *
   * @throws {StatusError} when the gateway answers with an error status, after retries.
   * @throws {ConnectionError} when no usable response arrives, after retries or in time.
   * @throws {InvalidResponseError} when the list breaks the contract.
   */
  listModels(options?: LookUpOptions): Promise<CatalogModel[]>;

  /** Lists the providers of a model, `<creator>/<model>`, and their data handling; no key is sent. */
  listEndpoints(modelId: string, options?: LookUpOptions): Promise<ModelEndpoint[]>;

  /** Reads the balance of the key's account. @throws {ConfigurationError} if there is no key. */
  getCredits(options?: LookUpOptions): Promise<Credits>;

  /** Closes its connections once their look-ups are over; a look-up after it is a `ConfigurationError`. */
  close(): Promise<void>;
}

/** How to reach the gateway's catalog, and how long to try. */
export interface CatalogOptions extends TransportOptions, CallLimits {
  /** The gateway key, for the balance only. @default AI_GATEWAY_API_KEY */
  apiKey?: string | undefined;
  /** The gateway's address; look-ups start at the root of its host. @default EVALUATOR_BASE_URL, else https://ai-gateway.vercel.sh/v4/ai */
  baseUrl?: string | undefined;
}

/**
 * Makes a catalog of the gateway's models, endpoints and credits (contract sections 4.2 to 4.4).
 *
 * @throws {ConfigurationError} when an option is wrong; a missing key only matters to `getCredits`.
 * @example
 * ```ts
 * const models = await createCatalog().listModels();
 * console.log(models.map(({ id, inputUsdPerMillionTokens }) => [id, inputUsdPerMillionTokens]));
 * ```
 */
export function createCatalog(
  options: CatalogOptions = {},
  runtime: EvaluatorRuntime = {},
): Catalog {
  const { http, origin, policy } = connect(options, runtime);

  async function lookUp<TValue>(
    path: string,
    read: (json: unknown) => TValue,
    { of = {}, apiKey = null }: { of: LookUpOptions | undefined; apiKey?: string | null },
  ): Promise<TValue> {
    checkOptions(optionsNamed("signal"), of);
    const { headers: addedHeaders } = options;
    const headers = mergeHeaders(apiKey === null ? {} : keyHeaders(apiKey), addedHeaders);
    const endpoint = { method: "GET", url: origin + path, headers } as const;
    const send = prepareJson(endpoint, { http, apiKey, addedHeaders, toError: toGatewayError });
    const attempt = async (context: AttemptContext) => {
      const { status, json } = await send(null, context, null);
      return { value: read(json), status, tokensUsed: 0 };
    };
    const { value } = await new RetriedCall({ ...policy, signal: of.signal }, 0).run(attempt);
    return value;
  }

  const close = () => http.close();
  return {
    close,
    [Symbol.asyncDispose]: close,
    listModels: async (of) => lookUp("/v1/models", toModels, { of }),
    listEndpoints: async (modelId, of) => lookUp(endpointsPath(modelId), toEndpoints, { of }),
    async getCredits(of) {
      const apiKey = readHeaderOption(options, "apiKey", gatewaySources.apiKey);
      return lookUp("/v1/credits", toCredits, { of, apiKey });
    },
  };
}

function connect(options: CatalogOptions, runtime: EvaluatorRuntime) {
  checkTransportOptions(options, "apiKey", "baseUrl", ...Object.keys(callSchemas.limits.shape));
  checkOptions(callSchemas.limits, options);
  const timing = readRuntime(runtime);
  const { origin } = new URL(readBaseUrl(options, gatewaySources.baseUrl));
  mergeHeaders(keyHeaders(""), options.headers); // rejects invalid headers before the first look-up
  const pacer = createPacer({}, timing);
  const policy = { ...callLimits(options), ...timing, pacer, hooks: null, maybeBilled: false };
  return { http: httpClientFor(options), origin, policy };
}

/** Returns the headers that carry the key (contract section 5). */
function keyHeaders(apiKey: string): Record<string, string> {
  return { Authorization: `Bearer ${apiKey}`, "ai-gateway-auth-method": "api-key" };
}

/** @throws InvalidRequestError if the id is not two path segments. */
function endpointsPath(modelId: string): string {
  const segments = modelId.split("/");
  const [creator = "", model = ""] = segments.filter(isSegment).map(encodeURIComponent);
  if (segments.length === 2 && creator !== "" && model !== "") {
    return `/v1/models/${creator}/${model}/endpoints`;
  }
  const message = `The model id ${quoteName(modelId)} is not of the form creator/model; listModels gives the ids.`;
  throw new InvalidRequestError(message);
}

/** A URL drops the segments `.` and `..`, and has no lone surrogates. */
function isSegment(segment: string): boolean {
  return segment !== "" && segment !== "." && segment !== ".." && segment.isWellFormed();
}

// US dollars, printed as a number or a decimal string.
const amountSchema = z
  .union([z.number(), z.string().check(z.regex(/^-?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i))])
  .check(z.refine((amount) => Number.isFinite(Number(amount) * 1_000_000)));
const price = z.nullish(amountSchema.check(z.refine((amount) => Number(amount) >= 0)));
const flag = z.nullish(z.union([z.boolean(), z.string()]));
const text = z.nullish(z.string());

// Unknown fields pass (field facts).
const modelListSchema = z.looseObject({
  data: z.array(
    z.looseObject({
      id: z.string(),
      type: text,
      name: text,
      context_window: z.nullish(z.int().check(z.minimum(0))),
      pricing: z.nullish(
        z.looseObject({
          input: price,
          output: price,
          input_cache_read: price,
          input_cache_write: price,
        }),
      ),
    }),
  ),
});

const endpointListSchema = z.looseObject({
  data: z.looseObject({
    endpoints: z.array(
      z.looseObject({
        provider_name: text,
        zdr: flag,
        no_training: flag,
        supports_implicit_caching: flag,
        pricing: z.nullish(z.looseObject({ prompt: price, completion: price })),
      }),
    ),
  }),
});

const creditsSchema = z.looseObject({ balance: amountSchema, total_used: amountSchema });

function toModels(json: unknown): CatalogModel[] {
  const { data } = parse(modelListSchema, json);
  const toUsd = perMillion(data.flatMap(({ pricing }) => [pricing?.input, pricing?.output]));
  return data.map((model) => ({
    id: model.id,
    type: model.type ?? null,
    name: model.name ?? null,
    contextWindow: model.context_window || null, // 0 for the evaluation model
    inputUsdPerMillionTokens: toUsd(model.pricing?.input),
    outputUsdPerMillionTokens: toUsd(model.pricing?.output),
    cacheReadUsdPerMillionTokens: toUsd(model.pricing?.input_cache_read),
    cacheWriteUsdPerMillionTokens: toUsd(model.pricing?.input_cache_write),
    raw: model,
  }));
}

function toEndpoints(json: unknown): ModelEndpoint[] {
  const { endpoints } = parse(endpointListSchema, json).data;
  const toUsd = perMillion(endpoints.flatMap(({ pricing: p }) => [p?.prompt, p?.completion]));
  return endpoints.map((endpoint) => ({
    providerName: endpoint.provider_name ?? null,
    zdr: endpoint.zdr ?? null,
    noTraining: endpoint.no_training ?? null,
    supportsImplicitCaching: endpoint.supports_implicit_caching ?? null,
    inputUsdPerMillionTokens: toUsd(endpoint.pricing?.prompt),
    outputUsdPerMillionTokens: toUsd(endpoint.pricing?.completion),
    raw: endpoint,
  }));
}

function toCredits(json: unknown): Credits {
  const { balance, total_used: totalUsed } = parse(creditsSchema, json);
  return { balanceUsd: Number(balance), totalUsedUsd: Number(totalUsed), raw: json };
}

function parse<TSchema extends z.ZodMiniType>(schema: TSchema, json: unknown): z.infer<TSchema> {
  const issue = schema.safeParse(json).error?.issues[0];
  if (issue === undefined) return json as z.infer<TSchema>; // the schemas change nothing
  const where = issue.path.map(String).join(".") || "the body as a whole";
  const message = `The gateway's answer does not have the expected shape at ${where}; check the base URL.`;
  throw new InvalidResponseError(message, { questionId: null, rule: "body-shape" });
}

type Price = string | number | null | undefined;

// As the price of a token this is $1,000 a million; as the price of a million, less than any model's.
const LEAST_USD_PER_MILLION = 0.001;

/**
 * Returns what gives US dollars per million tokens, null for null. The contract has prices per million and
 * services list them per token (field facts): the lowest price of a list that is above 0 decides.
 */
function perMillion(prices: readonly Price[]): (price: Price) => number | null {
  const lowest = Math.min(...prices.map((price) => Number(price ?? 0) || Number.POSITIVE_INFINITY));
  const digits = lowest < LEAST_USD_PER_MILLION ? 6 : 0;
  return (price) => {
    if (price === null || price === undefined) return null;
    // Moves the decimal point in the text, which rounds nothing: "0.000000042" gives 0.042.
    const [mantissa, exponent = "0"] = String(price).toLowerCase().split("e");
    return Number(`${mantissa}e${Number(exponent) + digits}`);
  };
}
