import { ConfigurationError } from "../../errors.ts";
import { apiKeyVariables, environmentNames } from "../../environment.ts";
import { type PostedService, postTransport } from "../post-transport.ts";
import type { JsonResponse } from "../../http/http-client.ts";
import type { EvaluationRequest } from "../../questions/request.ts";
import type { Transport } from "../transport.ts";
import {
  checkTransportOptions,
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

/** What each form of the direct wire adds to the others' common part. */
interface WireForm {
  readonly path: string;
  readonly baseUrl: { readonly fallback?: string };
  readonly modelId: { readonly fallback?: string };
  readonly support: Pick<PostedService, "limits" | "images" | "imageHeaders">;
  readonly toBody: (request: EvaluationRequest, modelId: string) => string;
  readonly toReply: (
    response: JsonResponse,
    request: EvaluationRequest,
    vendor: string,
  ) => ReturnType<PostedService["toReply"]>;
}

const wires = {
  systemone: {
    path: directPath,
    baseUrl: { fallback: "https://api.typesafe.ai" },
    modelId: { fallback: "jev-latest" },
    support: { limits: directLimits, images: directImages, imageHeaders: directImageHeaders },
    toBody: toDirectBody,
    toReply: (response, _, vendor) => fromDirectResponse(response, vendor),
  },
  decisions: {
    path: decisionsPath,
    baseUrl: {},
    modelId: {},
    support: { images: decisionsImages },
    toBody: toDecisionsBody,
    toReply: fromDecisionsResponse,
  },
} satisfies Record<string, WireForm>;

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
  const { vendor, form, ...service } = readOptions(options);
  return postTransport(
    {
      ...service,
      ...form.support,
      name: "direct",
      toBody: (request) => form.toBody(request, service.modelId),
      toReply: (response, request) => form.toReply(response, request, vendor),
      toError: toDirectError,
    },
    options,
  );
}

function readOptions(options: DirectTransportOptions) {
  checkTransportOptions(options, "apiKey", "baseUrl", "model", "vendor", "wire");
  const { env, vendor = "typesafe", wire = "systemone" } = options;
  if (!Object.hasOwn(wires, wire)) {
    const message = `The option "wire" is one of ${Object.keys(wires).join(", ")}.`;
    throw new ConfigurationError(message, { option: "wire" });
  }
  const form: WireForm = wires[wire];
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
    ...form.baseUrl,
  });
  const modelId = readOption({
    option: "model",
    environmentVariable: environmentNames.modelId,
    given: options.model,
    env,
    ...form.modelId,
  });
  const headers = mergeHeaders(directHeaders(apiKey), options.headers);
  // Most programs want the /v1 in their address, so people have it at hand.
  const url = baseUrl.replace(/\/v1$/, "") + form.path;
  return { url, headers, apiKey, modelId, vendor, form };
}

function readApiKey(given: string | undefined, env: DirectTransportOptions["env"]): string {
  const environmentVariable = apiKeyVariables.direct;
  return readHeaderOption({ option: "apiKey", environmentVariable, given, env });
}
