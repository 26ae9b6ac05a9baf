import { ConfigurationError } from "../../errors.ts";
import { apiKeyVariables, environmentNames } from "../../environment.ts";
import { postTransport } from "../post-transport.ts";
import type { Transport } from "../transport.ts";
import {
  checkTransportOptions,
  jsonHeaders,
  mergeHeaders,
  readBaseUrl,
  readHeaderOption,
  readOption,
  type TransportOptions,
  withoutVersion,
} from "../transport-options.ts";
import { decisionsForm } from "./decisions-wire.ts";
import { type DirectForm, systemoneForm, toDirectError } from "./direct-wire.ts";

const forms = { systemone: systemoneForm, decisions: decisionsForm };

/** The form of the direct wire. */
export type DirectWire = keyof typeof forms;

/** How to reach the vendor's own API, or a server with the same API. */
export interface DirectTransportOptions extends TransportOptions {
  /** The vendor's key; null sends none, for servers without keys. @default EVALUATOR_DIRECT_API_KEY */
  apiKey?: string | null;
  /** Address in front of `/v1`; a `/v1` at its end is ignored. @default EVALUATOR_DIRECT_BASE_URL, else for "systemone" https://api.typesafe.ai */
  baseUrl?: string;
  /** The model's name in the body. @default EVALUATOR_MODEL_ID, else for "systemone" jev-latest */
  model?: string;
  /** The vendor's own form, or OpenAI's `/v1/decisions`, which SGLang and vLLM have too. @default "systemone" */
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
      ...form,
      ...service,
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
  const { vendor = "typesafe", wire = "systemone" } = options;
  if (!Object.hasOwn(forms, wire)) {
    const message = `The option "wire" is one of ${Object.keys(forms).join(", ")}.`;
    throw new ConfigurationError(message, { option: "wire" });
  }
  const form: DirectForm = forms[wire];
  if (vendor === "" || vendor === "gateway") {
    const message = `The option "vendor" is the vendor's key in providerMetadata, such as "typesafe"; it is neither empty nor "gateway".`;
    throw new ConfigurationError(message, { option: "vendor" });
  }
  const { modelId: modelVariable, directBaseUrl } = environmentNames;
  const apiKey =
    options.apiKey === null
      ? null
      : readHeaderOption(options, "apiKey", { variable: apiKeyVariables.direct });
  const baseUrl = readBaseUrl(options, { variable: directBaseUrl, fallback: form.baseUrl });
  const modelId = readOption(options, "model", { variable: modelVariable, fallback: form.model });
  const headers = mergeHeaders(jsonHeaders(apiKey), options.headers);
  return { url: withoutVersion(baseUrl) + form.path, headers, apiKey, modelId, vendor, form };
}
