import { ConfigurationError } from "../../errors.ts";
import { apiKeyVariables, type Environment, environmentNames } from "../../environment.ts";
import { postTransport } from "../post-transport.ts";
import type { Transport } from "../transport.ts";
import {
  checkTransportOptions,
  mergeHeaders,
  readBaseUrl,
  readHeaderOption,
  type TransportOptions,
} from "../transport-options.ts";
import {
  fromGatewayResponse,
  gatewayHeaders,
  gatewayImages,
  type GatewayWire,
  gatewayWires,
  toGatewayError,
} from "./gateway-wire.ts";

/** How to reach the model through the gateway. */
export interface GatewayTransportOptions extends TransportOptions {
  /** The gateway key. @default AI_GATEWAY_API_KEY */
  apiKey?: string;
  /** Address in front of `/evaluation-model`. @default EVALUATOR_BASE_URL, else https://ai-gateway.vercel.sh/v4/ai */
  baseUrl?: string;
  /** The evaluation model's id at the gateway. @default EVALUATOR_MODEL_ID, else typesafe-ai/jev */
  modelId?: string;
  /** The generation of the wire: the contract's, or its successor. @default "evaluation-model" */
  wire?: GatewayWire;
}

/**
 * Reaches the evaluation model through the gateway (contract section 4.1).
 *
 * @throws {ConfigurationError} when the key is missing or an option cannot be sent.
 * @example
 * ```ts
 * const evaluator = createEvaluator({ transport: gatewayTransport({ wire: "decision-model" }) });
 * ```
 */
export function gatewayTransport(options: GatewayTransportOptions = {}): Transport {
  const { wire, ...service } = readOptions(options);
  return postTransport(
    {
      ...service,
      name: "gateway",
      ...(wire === "decision-model" && { images: gatewayImages }),
      toBody: gatewayWires[wire].toBody,
      toReply: fromGatewayResponse,
      toError: (failure) => toGatewayError(failure, wire),
    },
    options,
  );
}

function readOptions(options: GatewayTransportOptions) {
  checkTransportOptions(options, "apiKey", "baseUrl", "modelId", "wire");
  const { env, wire = "evaluation-model" } = options;
  if (!Object.hasOwn(gatewayWires, wire)) {
    const message = `The option "wire" is one of ${Object.keys(gatewayWires).join(", ")}.`;
    throw new ConfigurationError(message, { option: "wire" });
  }
  const apiKey = readGatewayKey(options);
  const baseUrl = readGatewayBaseUrl(options);
  const modelId = readHeaderOption({
    option: "modelId",
    environmentVariable: environmentNames.modelId,
    given: options.modelId,
    env,
    fallback: "typesafe-ai/jev",
  });
  const headers = mergeHeaders(gatewayHeaders({ apiKey, modelId, wire }), options.headers);
  return { url: baseUrl + gatewayWires[wire].path, headers, apiKey, modelId, wire };
}

/** Where the gateway is and with which key, for its transport and its catalog alike. */
export interface GatewayAccess {
  readonly apiKey?: string;
  readonly baseUrl?: string;
  readonly env?: Environment;
}

/** Returns the gateway key of the options or the environment. */
export function readGatewayKey({ apiKey, env }: GatewayAccess): string {
  const environmentVariable = apiKeyVariables.gateway;
  return readHeaderOption({ option: "apiKey", environmentVariable, given: apiKey, env });
}

/** Returns the gateway's base URL of the options or the environment, path prefix included. */
export function readGatewayBaseUrl({ baseUrl, env }: GatewayAccess): string {
  return readBaseUrl({
    option: "baseUrl",
    environmentVariable: environmentNames.gatewayBaseUrl,
    given: baseUrl,
    env,
    fallback: "https://ai-gateway.vercel.sh/v4/ai",
  });
}
