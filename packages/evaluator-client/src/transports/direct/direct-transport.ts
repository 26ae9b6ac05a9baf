import { ConfigurationError } from "../../errors.ts";
import { environmentNames } from "../../environment.ts";
import { postTransport } from "../post-transport.ts";
import type { Transport } from "../transport.ts";
import {
  mergeHeaders,
  readBaseUrl,
  readHeaderOption,
  readOption,
  type TransportOptions,
} from "../transport-options.ts";
import { toDirectError } from "./direct-error.ts";
import { fromDirectResponse, toDirectBody } from "./direct-mapping.ts";
import { directHeaders, directLimits, directPath } from "./direct-wire.ts";

/** How to reach the vendor's own API, or a server that speaks it. */
export interface DirectTransportOptions extends TransportOptions {
  /** The vendor's key; null sends none, for servers without keys. @default EVALUATOR_DIRECT_API_KEY */
  apiKey?: string | null;
  /** Address in front of `/v1/systemone`. @default EVALUATOR_DIRECT_BASE_URL, else https://api.typesafe.ai */
  baseUrl?: string;
  /** The model's name in the body. @default EVALUATOR_MODEL_ID, else jev-latest */
  model?: string;
  /** The key in `providerMetadata` that holds confidence and legend. @default "typesafe" */
  vendor?: string;
}

/**
 * Reaches the evaluation model through the vendor's own API (contract sections 2.6 and 4.5).
 *
 * @throws {ConfigurationError} when the key is missing or an option cannot be sent.
 * @example
 * ```ts
 * const transport = directTransport({ baseUrl: "http://127.0.0.1:8080", apiKey: null });
 * ```
 */
export function directTransport(options: DirectTransportOptions = {}): Transport {
  const { vendor, ...service } = readOptions(options);
  return postTransport(
    {
      ...service,
      name: "direct",
      limits: directLimits,
      toBody: (request) => toDirectBody(request, service.modelId),
      toReply: (response) => fromDirectResponse(response, vendor),
      toError: toDirectError,
    },
    options,
  );
}

function readOptions(options: DirectTransportOptions) {
  const { env, vendor = "typesafe" } = options;
  if (vendor === "" || vendor === "gateway") {
    const message = `The option "vendor" is the vendor's key in providerMetadata, such as "typesafe"; it is neither empty nor "gateway".`;
    throw new ConfigurationError(message, { option: "vendor" });
  }
  const apiKey = options.apiKey === null ? null : readApiKey(options.apiKey, env);
  const baseUrl = readBaseUrl({
    option: "baseUrl",
    environmentVariable: environmentNames.directBaseUrl,
    given: options.baseUrl,
    env,
    fallback: "https://api.typesafe.ai",
  });
  const modelId = readOption({
    option: "model",
    environmentVariable: environmentNames.modelId,
    given: options.model,
    env,
    fallback: "jev-latest",
  });
  const headers = mergeHeaders(directHeaders(apiKey), options.headers);
  return { url: baseUrl + directPath, headers, apiKey, modelId, vendor };
}

function readApiKey(given: string | undefined, env: DirectTransportOptions["env"]): string {
  const environmentVariable = environmentNames.directApiKey;
  return readHeaderOption({ option: "apiKey", environmentVariable, given, env });
}
