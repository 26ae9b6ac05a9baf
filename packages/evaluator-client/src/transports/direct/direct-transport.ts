import { ConfigurationError } from "../../errors.ts";
import { apiKeyVariables, environmentNames } from "../../environment.ts";
import { postTransport } from "../post-transport.ts";
import type { Transport } from "../transport.ts";
import {
  mergeHeaders,
  readBaseUrl,
  readHeaderOption,
  readOption,
  type TransportOptions,
} from "../transport-options.ts";
import {
  decisionsImages,
  decisionsPath,
  fromDecisionsResponse,
  toDecisionsBody,
} from "./decisions-wire.ts";
import {
  toDirectError,
  fromDirectResponse,
  toDirectBody,
  directHeaders,
  directImageHeaders,
  directImages,
  directLimits,
  directPath,
} from "./direct-wire.ts";

const wires = {
  systemone: { path: directPath, baseUrl: "https://api.typesafe.ai", modelId: "jev-latest" },
  decisions: { path: decisionsPath, baseUrl: null, modelId: null },
} as const;

/** The form of the direct wire. */
export type DirectWire = keyof typeof wires;

/** How to reach the vendor's own API, or a server that speaks it. */
export interface DirectTransportOptions extends TransportOptions {
  /** The vendor's key; null sends none, for servers without keys. @default EVALUATOR_DIRECT_API_KEY */
  apiKey?: string | null;
  /** Address in front of `/v1`, which may be left out or not. @default EVALUATOR_DIRECT_BASE_URL, else for "systemone" https://api.typesafe.ai */
  baseUrl?: string;
  /** The model's name in the body. @default EVALUATOR_MODEL_ID, else for "systemone" jev-latest */
  model?: string;
  /** The vendor's own form, or OpenAI's `/v1/decisions`, which SGLang and vLLM speak as well. @default "systemone" */
  wire?: DirectWire;
  /** The key in `providerMetadata` that holds confidence and legend. @default "typesafe" */
  vendor?: string;
}

/**
 * Reaches the evaluation model through the vendor's own API (contract sections 2.6 and 4.5).
 *
 * @throws {ConfigurationError} when the key, address or model is missing or an option cannot be sent.
 * @example
 * ```ts
 * const transport = directTransport({ baseUrl: "http://127.0.0.1:8080", apiKey: null });
 * ```
 */
export function directTransport(options: DirectTransportOptions = {}): Transport {
  const { vendor, wire, ...service } = readOptions(options);
  if (wire === "decisions") {
    return postTransport(
      {
        ...service,
        name: "direct",
        images: decisionsImages,
        toBody: (request) => toDecisionsBody(request, service.modelId),
        toReply: fromDecisionsResponse,
        toError: toDirectError,
      },
      options,
    );
  }
  return postTransport(
    {
      ...service,
      name: "direct",
      limits: directLimits,
      images: directImages,
      imageHeaders: directImageHeaders,
      toBody: (request) => toDirectBody(request, service.modelId),
      toReply: (response) => fromDirectResponse(response, vendor),
      toError: toDirectError,
    },
    options,
  );
}

function readOptions(options: DirectTransportOptions) {
  const { env, vendor = "typesafe", wire = "systemone" } = options;
  if (!Object.hasOwn(wires, wire)) {
    const message = `The option "wire" is one of ${Object.keys(wires).join(", ")}.`;
    throw new ConfigurationError(message, { option: "wire" });
  }
  const { path, ...fallbacks } = wires[wire];
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
    ...(fallbacks.baseUrl && { fallback: fallbacks.baseUrl }),
  });
  const modelId = readOption({
    option: "model",
    environmentVariable: environmentNames.modelId,
    given: options.model,
    env,
    ...(fallbacks.modelId && { fallback: fallbacks.modelId }),
  });
  const headers = mergeHeaders(directHeaders(apiKey), options.headers);
  // Most programs want the /v1 in their address, so people have it at hand.
  const url = baseUrl.replace(/\/v1$/, "") + path;
  return { url, headers, apiKey, modelId, vendor, wire };
}

function readApiKey(given: string | undefined, env: DirectTransportOptions["env"]): string {
  const environmentVariable = apiKeyVariables.direct;
  return readHeaderOption({ option: "apiKey", environmentVariable, given, env });
}
