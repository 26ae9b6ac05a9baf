/// <reference lib="esnext.disposable" preserve="true" />
import { InvalidRequestError } from "../errors.ts";
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
import type { CatalogModel, Credits, ModelEndpoint } from "./catalog-replies.ts";

// Schemas, which no evaluation needs.
const loadReplies = () => import("./catalog-replies.ts");

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
    async listModels(of) {
      const { toModels } = await loadReplies();
      return lookUp("/v1/models", toModels, { of });
    },
    async listEndpoints(modelId, of) {
      const path = endpointsPath(modelId);
      const { toEndpoints } = await loadReplies();
      return lookUp(path, toEndpoints, { of });
    },
    async getCredits(of) {
      const apiKey = readHeaderOption(options, "apiKey", gatewaySources.apiKey);
      const { toCredits } = await loadReplies();
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
