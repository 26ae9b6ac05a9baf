import { checkOptions, optionsNamed } from "../options.ts";
import { type CallLimits, callLimits, callSchemas } from "../evaluator-options.ts";
import { type HttpClient, isSuccess, toJsonResponse } from "../http/http-client.ts";
import { createPacer } from "../pacing/pacer.ts";
import { type EvaluatorRuntime, readRuntime } from "../clock.ts";
import { RetriedCall, type RetryPolicy } from "../retry/retried-call.ts";
import {
  readGatewayBaseUrl,
  readGatewayKey,
  toGatewayError,
} from "../transports/gateway/gateway-transport.ts";
import {
  checkTransportOptions,
  httpClientFor,
  mergeHeaders,
  type TransportOptions,
} from "../transports/transport-options.ts";
import type { AttemptContext } from "../retry/attempt.ts";
import { type Catalog, type LookUpOptions, lookUps } from "./catalog.ts";

/** How to reach the gateway's catalog, and how long to try. */
export interface CatalogOptions extends TransportOptions, CallLimits {
  /** The gateway key, for the balance only. @default AI_GATEWAY_API_KEY */
  apiKey?: string;
  /** The gateway's address; look-ups start at the root of its host. @default EVALUATOR_BASE_URL, else https://ai-gateway.vercel.sh/v4/ai */
  baseUrl?: string;
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
  const client = new CatalogClient(options, runtime);
  return {
    close: () => client.http.close(),
    [Symbol.asyncDispose]: () => client.http.close(),
    listModels: async (ofCall) => client.get(lookUps.models, ofCall),
    listEndpoints: async (modelId, ofCall) => client.get(lookUps.endpoints(modelId), ofCall),
    getCredits: async (ofCall) => client.get(lookUps.credits, ofCall, readGatewayKey(options)),
  };
}

class CatalogClient {
  readonly http: HttpClient;
  readonly #origin: string;
  readonly #headers: TransportOptions["headers"];
  readonly #policy: RetryPolicy;

  constructor(options: CatalogOptions, runtime: EvaluatorRuntime) {
    checkTransportOptions(options, "apiKey", "baseUrl", ...Object.keys(callSchemas.limits.shape));
    checkOptions(callSchemas.limits, options);
    const timing = readRuntime(runtime);
    this.#origin = new URL(readGatewayBaseUrl(options)).origin;
    this.#headers = options.headers;
    mergeHeaders(keyHeaders(""), this.#headers); // rejects invalid headers before the first look-up
    this.http = httpClientFor(options);
    const pacer = createPacer({}, timing);
    const limits = callLimits(options);
    this.#policy = { ...limits, ...timing, pacer, hooks: null, maybeBilled: false };
  }

  async get<TValue>(
    { path, read }: { path: string; read: (json: unknown) => TValue },
    ofCall: LookUpOptions = {},
    apiKey: string | null = null,
  ): Promise<TValue> {
    checkOptions(optionsNamed("signal"), ofCall);
    const headers = mergeHeaders(apiKey === null ? {} : keyHeaders(apiKey), this.#headers);
    const endpoint = { method: "GET", url: this.#origin + path, headers } as const;
    const send = this.http.prepare(endpoint);
    const attempt = async (context: AttemptContext) => {
      const response = toJsonResponse(await send(null, context), endpoint);
      const { status, json } = response;
      if (isSuccess(status)) return { value: read(json), status, tokensUsed: 0 };
      throw toGatewayError({ response, apiKey, clock: this.#policy.clock }, null);
    };
    const policy = { ...this.#policy, signal: ofCall.signal };
    const { value } = await new RetriedCall(policy, 0).run(attempt);
    return value;
  }
}

/** Returns the headers that carry the key (contract section 5). */
function keyHeaders(apiKey: string): Record<string, string> {
  return { Authorization: `Bearer ${apiKey}`, "ai-gateway-auth-method": "api-key" };
}
