import { ConfigurationError } from "../../errors.ts";
import { apiKeyVariables, environmentNames } from "../../environment.ts";
import { postTransport } from "../post-transport.ts";
import type { Transport } from "../transport.ts";
import {
  checkTransportOptions,
  mergeHeaders,
  readBaseUrl,
  readHeaderOption,
  type TransportOptions,
} from "../transport-options.ts";
import { gatewayHeaders, type GatewayWire, gatewayWires, toGatewayError } from "./gateway-wire.ts";

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
      ...gatewayWires[wire].support,
      name: "gateway",
      toError: (failure) => toGatewayError(failure, wire),
    },
    options,
  );
}

function readOptions(options: GatewayTransportOptions) {
  checkTransportOptions(options, "apiKey", "baseUrl", "modelId", "wire");
  const { wire = "evaluation-model" } = options;
  if (!Object.hasOwn(gatewayWires, wire)) {
    const message = `The option "wire" is one of ${Object.keys(gatewayWires).join(", ")}.`;
    throw new ConfigurationError(message, { option: "wire" });
  }
  const apiKey = readGatewayKey(options);
  const baseUrl = readGatewayBaseUrl(options);
  const variable = environmentNames.modelId;
  const fallback = "typesafe-ai/jev";
  const modelId = readHeaderOption(options, "modelId", { variable, fallback });
  const headers = mergeHeaders(gatewayHeaders(wire, { apiKey, modelId }), options.headers);
  return { url: baseUrl + gatewayWires[wire].path, headers, apiKey, modelId, wire };
}

type GatewayAccess = Pick<GatewayTransportOptions, "apiKey" | "baseUrl" | "env">;

/** Returns the gateway key of the options or the environment. */
export function readGatewayKey(options: GatewayAccess): string {
  return readHeaderOption(options, "apiKey", { variable: apiKeyVariables.gateway });
}

/** Returns the gateway's base URL of the options or the environment, path prefix included. */
export function readGatewayBaseUrl(options: GatewayAccess): string {
  const variable = environmentNames.gatewayBaseUrl;
  return readBaseUrl(options, { variable, fallback: "https://ai-gateway.vercel.sh/v4/ai" });
}
