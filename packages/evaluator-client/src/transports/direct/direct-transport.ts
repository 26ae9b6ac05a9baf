import { checkName, rejectOption } from "../../options.ts";
import {
  checkTransportOptions,
  httpClientFor,
  postTransport,
  type TransportOptions,
} from "../post-transport.ts";
import { onceLoaded } from "../once-loaded.ts";
import { checkOptionsFor, type ProviderOptions } from "../provider-options.ts";
import type { Transport } from "../transport.ts";
import { readDirectOptions, findRow } from "./direct-options.ts";
import { type DirectWire, type FormFacts, forms } from "./forms.ts";
import { listFacts } from "./service-rules.ts";
import type { ServiceName } from "./services.ts";

/** How to reach a decision service, or a server with the API of one. */
export interface DirectTransportOptions extends TransportOptions {
  /** The service, such as "openrouter"; `services` lists them. @default a server with the vendor's API */
  service?: ServiceName | undefined;
  /** The account at a service that requires it. @default CLOUDFLARE_ACCOUNT_ID */
  accountId?: string | undefined;
  /** The key; null sends none, for servers without keys. @default the service's variable, else EVALUATOR_DIRECT_API_KEY */
  apiKey?: string | null | undefined;
  /** Address in front of the path; a `/v1` at its end is ignored. @default the service's, else EVALUATOR_DIRECT_BASE_URL, else for "systemone" https://api.typesafe.ai */
  baseUrl?: string | undefined;
  /** The path below the address, for a server with another one. @default the service's, else that of the wire */
  path?: string | undefined;
  /** The model's name. @default EVALUATOR_MODEL_ID, else the service's usual one, else for "systemone" jev-latest */
  model?: string | undefined;
  /** Lets TypeSafe's own model read 262,144 tokens instead of 32,000: slower and less accurate. @default false */
  longContext?: boolean | undefined;
  /** The vendor's own form, OpenAI's, which SGLang and vLLM have too, or Google's. @default the service's, else "systemone" */
  wire?: DirectWire | undefined;
  /** Options of every call for a service that has some, such as `{ openrouter: { provider: { order: ["typesafe"] } } }`. @default none */
  providerOptions?: ProviderOptions | undefined;
  /** The key in `providerMetadata` that holds confidence and legend. @default the service's name, else "typesafe" */
  vendor?: string | undefined;
}

/**
 * Reaches a decision service by its name, the vendor's own API (contract sections 2.6 and 4.5), or a
 * server with the same API.
 *
 * @throws {ConfigurationError} when the key, address, account or model is missing or an option cannot be sent.
 * @example
 * ```ts
 * const transport = directTransport({ service: "openrouter" });
 * const own = directTransport({ baseUrl: "http://127.0.0.1:8080", apiKey: null });
 * ```
 */
export function directTransport(options: DirectTransportOptions = {}): Transport {
  const own = ["service", "accountId", "apiKey", "baseUrl", "path", "model", "vendor", "wire"];
  checkTransportOptions(options, ...own, "longContext", "providerOptions");
  const row = findRow(options.service);
  const { wire = row?.wire ?? "systemone", vendor = options.service ?? "typesafe" } = options;
  checkName("wire", wire, Object.keys(forms));
  const form: FormFacts = forms[wire];
  if (vendor === "" || vendor === "gateway")
    rejectOption("vendor", `is not a vendor's key in providerMetadata, such as "typesafe"`);
  const path = row?.wire === wire ? row.path : form.path;
  const read = readDirectOptions(options, { ...form, path }, row);
  const { model, mostStateTokens, ...address } = read;
  const name = options.service ?? "direct";
  const askedModel = row && { row, model };
  const facts = listFacts(form, { name, asked: askedModel, mostStateTokens, wire });
  const { providerOptions } = options;
  if (providerOptions !== undefined) checkOptionsFor({ name, ...facts.facts }, providerOptions);
  const ofTransport = structuredClone(providerOptions);
  const server = { name, wire, vendor, model, asked: askedModel, ofTransport };
  const http = httpClientFor(options);
  const addedFields = { headers: { ...options.headers } };
  return {
    name,
    target: { url: address.url, modelId: model },
    ...facts.facts,
    send: onceLoaded(async () => {
      const { directCalls } = await import("./direct-calls.ts");
      const service = { ...address, ...facts, ...directCalls(server), name, modelId: model };
      return postTransport(service, addedFields, http);
    }),
    close: () => http.close(),
  };
}
