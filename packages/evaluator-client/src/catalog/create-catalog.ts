import * as z from "zod/mini";
import { checkOptions, optionsNamed } from "../options.ts";
import {
  type CallLimits,
  callLimitsShape,
  defaultCallLimits,
  readCallLimits,
} from "../evaluator-options.ts";
import { isSuccess, toJsonResponse } from "../http/http-client.ts";
import { createPacer } from "../pacing/pacer.ts";
import { type EvaluatorRuntime, readRuntime } from "../clock.ts";
import { withRetries } from "../retry/with-retries.ts";
import { toGatewayError } from "../transports/gateway/gateway-wire.ts";
import { readGatewayBaseUrl, readGatewayKey } from "../transports/gateway/gateway-transport.ts";
import {
  checkTransportOptions,
  httpClientFor,
  mergeHeaders,
  type TransportOptions,
} from "../transports/transport-options.ts";
import type { AttemptContext } from "../retry/attempt.ts";
import type { Catalog, LookUpOptions } from "./catalog.ts";
import {
  fromCredits,
  fromEndpointList,
  fromModelList,
  catalogPaths,
  endpointsPath,
  keyHeaders,
} from "./catalog-wire.ts";

/** How to reach the gateway's catalog, and how long to try. */
export interface CatalogOptions extends TransportOptions, CallLimits {
  /** The gateway key, for the balance only. @default AI_GATEWAY_API_KEY */
  apiKey?: string;
  /** The gateway's address; look-ups start at the root of its host. @default EVALUATOR_BASE_URL, else https://ai-gateway.vercel.sh/v4/ai */
  baseUrl?: string;
}

interface LookUp<TValue> {
  readonly path: string;
  /** Turns the body into the value, or throws. */
  readonly read: (json: unknown) => TValue;
  readonly apiKey?: string;
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
  checkTransportOptions(options, "apiKey", "baseUrl", ...Object.keys(callLimitsShape));
  checkOptions(z.object(callLimitsShape), options);
  const { clock, random } = readRuntime(runtime);
  const { origin } = new URL(readGatewayBaseUrl(options));
  const limits = { ...defaultCallLimits, ...readCallLimits(options) };
  mergeHeaders(keyHeaders(""), options.headers); // rejects now what could not be sent later
  const http = httpClientFor(options);
  const pacer = createPacer({}, { clock, random });
  const free = { ...limits, maybeBilled: false };
  const retries = { pacer, hooks: null, clock, random };

  async function lookUp<TValue>(
    { path, read, apiKey }: LookUp<TValue>,
    ofCall: LookUpOptions = {},
  ): Promise<TValue> {
    checkOptions(optionsNamed("signal"), ofCall);
    const { signal } = ofCall;
    const own = apiKey === undefined ? {} : keyHeaders(apiKey);
    const headers = mergeHeaders(own, options.headers);
    const endpoint = { method: "GET", url: origin + path, headers } as const;
    const get = http.prepare(endpoint);
    const attempt = async (context: AttemptContext) => {
      const response = toJsonResponse(await get(null, context), endpoint);
      const { status, json } = response;
      if (isSuccess(status)) return { value: read(json), status, tokensUsed: 0 };
      throw toGatewayError({ response, apiKey: apiKey ?? null, clock }, null);
    };
    const { value } = await withRetries(attempt, { ...free, ...retries, signal }, 0);
    return value;
  }

  return {
    close: () => http.close(),
    [Symbol.asyncDispose]: () => http.close(),
    async listModels(ofCall) {
      return lookUp({ path: catalogPaths.models, read: fromModelList }, ofCall);
    },
    async listEndpoints(modelId, ofCall) {
      return lookUp({ path: endpointsPath(modelId), read: fromEndpointList }, ofCall);
    },
    async getCredits(ofCall) {
      const apiKey = readGatewayKey(options);
      return lookUp({ path: catalogPaths.credits, read: fromCredits, apiKey }, ofCall);
    },
  };
}
