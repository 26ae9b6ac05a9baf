import { createGateway } from "ai";
import { openAiChatProvider } from "../conversation/to-call-options.ts";
import type { Upstream } from "./upstream.ts";

/** How to reach a service. */
export interface UpstreamOptions {
  readonly name: string;
  /** The address in front of `/v1/messages`; in OpenAI's forms, up to and including `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  /** The environment variable of the key, for messages. */
  readonly keyVariable?: string | null;
  /** @default globalThis.fetch */
  readonly fetch?: typeof globalThis.fetch;
}

/** The gateway has a name, an address and a variable by default. */
interface GatewayOptions extends Partial<Omit<UpstreamOptions, "apiKey" | "baseUrl">> {
  readonly apiKey: string;
  readonly baseUrl?: string | undefined;
}

/** Connects the gateway. */
export function gatewayUpstream({ apiKey, baseUrl, ...options }: GatewayOptions): Upstream {
  const settings = { apiKey, ...(baseUrl !== undefined && { baseURL: baseUrl }) };
  return {
    name: options.name ?? "gateway",
    type: "gateway",
    keyVariable: options.keyVariable ?? "AI_GATEWAY_API_KEY",
    fetch: withoutRedirects(options.fetch),
    languageModel: (model, fetch) => createGateway({ ...settings, fetch })(model),
    post: null,
  };
}

/** Connects a service with OpenAI's chat API. */
export function openAiChatUpstream(options: UpstreamOptions): Upstream {
  const { baseUrl: baseURL, apiKey } = options;
  return {
    type: "openai-chat",
    ...connect(options, { path: "/chat/completions", key: bearer(apiKey) }),
    async languageModel(model, fetch) {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const settings = { baseURL, fetch, includeUsage: true, supportsStructuredOutputs: true };
      const key = apiKey === null ? {} : { apiKey };
      return createOpenAICompatible({ name: openAiChatProvider, ...settings, ...key })(model);
    },
  };
}

/** Without a key, these providers would read a variable that is not the router's. */
const NO_KEY = "none";

/** Connects a service with OpenAI's Responses API. */
export function openAiResponsesUpstream(options: UpstreamOptions): Upstream {
  const { baseUrl: baseURL, apiKey } = options;
  return {
    type: "openai-responses",
    ...connect(options, { path: "/responses", key: bearer(apiKey) }),
    async languageModel(model, fetch) {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return createOpenAI({ baseURL, apiKey: apiKey ?? NO_KEY, fetch }).responses(model);
    },
  };
}

/** Connects a service with Anthropic's Messages API. */
export function anthropicUpstream(options: UpstreamOptions): Upstream {
  const { baseUrl, apiKey } = options;
  const key: Endpoint["key"] = apiKey === null ? {} : { "x-api-key": apiKey };
  const defaults = { "anthropic-version": "2023-06-01" };
  return {
    type: "anthropic",
    ...connect(options, { path: "/v1/messages", key, defaults }),
    async languageModel(model, fetch) {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic({ baseURL: `${baseUrl}/v1`, apiKey: apiKey ?? NO_KEY, fetch })(model);
    },
  };
}

function bearer(apiKey: string | null): Record<string, string> {
  return apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
}

interface Endpoint {
  readonly path: string;
  /** It replaces a client's; other headers of a client replace the defaults. */
  readonly key: Readonly<Record<string, string>>;
  readonly defaults?: Readonly<Record<string, string>>;
}

function connect(options: UpstreamOptions, { path, key, defaults = {} }: Endpoint) {
  const { name, baseUrl, keyVariable = null } = options;
  const fetch = withoutRedirects(options.fetch);
  const post: Upstream["post"] = (body, { signal, headers: given }) => {
    const headers = { ...defaults, ...given, ...key, "content-type": "application/json" };
    return fetch(`${baseUrl}${path}`, { method: "POST", body, signal, headers });
  };
  return { name, keyVariable, fetch, post };
}

function withoutRedirects(fetch = globalThis.fetch): typeof globalThis.fetch {
  return (input, init) => fetch(input, { ...init, redirect: "manual" });
}
