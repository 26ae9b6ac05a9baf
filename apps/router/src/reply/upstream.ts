import type { LanguageModelV4 } from "@ai-sdk/provider";
import { openAiChatProvider, type UpstreamType } from "../conversation/to-call-options.ts";
import { isOwnNetwork } from "../own-network.ts";
import type { ModelPrice } from "./usage.ts";

type Fetch = typeof globalThis.fetch;

/** A service that replies. */
export interface Upstream {
  /** Its name in `router.config.json`, the log and messages. */
  readonly name: string;
  readonly type: UpstreamType;
  /** The environment variable of its key, for messages. */
  readonly keyVariable: string | null;
  /** Whether it reaches addresses of the router's own network. */
  readonly isLocal: boolean;
  /** Sends requests; a redirect is a failure, so that no other origin gets a message. */
  readonly fetch: Fetch;
  /** Returns a model of the service whose HTTP goes through the given `fetch`. */
  readonly languageModel: (model: string, fetch: Fetch) => Promise<LanguageModelV4>;
}

/** What a model can take; an absent value is unknown. */
export interface Capabilities {
  /** Input and output tokens together. */
  readonly contextWindow?: number;
  /** The most tokens of a reply. */
  readonly maxOutputTokens?: number;
  readonly images?: boolean;
  /** Documents, such as PDF. */
  readonly files?: boolean;
  readonly tools?: boolean;
  /** Its efforts of reasoning, such as `low`. */
  readonly efforts?: readonly string[];
}

/** A model of an upstream. */
export interface Target {
  readonly upstream: Upstream;
  readonly model: string;
  /** A price of the configuration; null takes the price list's. */
  readonly price: ModelPrice | null;
  /** Those of the configuration; the gateway's list has more. */
  readonly capabilities?: Capabilities;
}

/** How a tier replies. */
export interface ReplyPlan {
  /** Asked in turn if one is rejected or fails before its first piece. */
  readonly targets: readonly [Target, ...Target[]];
  /** Further attempts at the last target after a temporary failure. */
  readonly maxRetries: number;
  /** Time to the first piece and between pieces, in milliseconds; 0 for no limit. */
  readonly idleTimeoutMs: number;
  /** Time for the whole reply, in milliseconds; 0 for no limit. */
  readonly timeoutMs: number;
}

/** The address of a service, and its key. */
export interface UpstreamOptions {
  readonly type: UpstreamType;
  readonly name: string;
  /** In front of `/v1/messages`; in OpenAI's forms, up to `/v1`; absent for the gateway's own address. */
  readonly baseUrl?: string | null | undefined;
  readonly apiKey: string | null;
  /** The environment variable of the key, for messages. */
  readonly keyVariable?: string | null;
  /** @default globalThis.fetch */
  readonly fetch?: Fetch;
}

/** Connects a service. */
export function connectUpstream({
  fetch = globalThis.fetch,
  ...options
}: UpstreamOptions): Upstream {
  const { type, name, apiKey, baseUrl, keyVariable = null } = options;
  const service = { ...(apiKey !== null && { apiKey }), ...(baseUrl && { baseURL: baseUrl }) };
  let opening: Promise<Open> | null = null; // an import costs 50 µs, each time
  return {
    name,
    type,
    keyVariable,
    isLocal: isOwnNetwork(URL.parse(baseUrl ?? "")),
    fetch: (input, init) =>
      fetch(input, { ...init, redirect: "manual", dispatcher } as RequestInit),
    async languageModel(model, fetch) {
      const openModel = await (opening ??= open[type]());
      return openModel(model, { ...service, fetch });
    },
  };
}

/** The dispatcher of `fetch` without its limits: it ends 300 s of silence, and the call would be sent again. */
const dispatcher = {
  dispatch(options: object, handler: object): boolean {
    const own: typeof dispatcher = Reflect.get(globalThis, Symbol.for("undici.globalDispatcher.1"));
    return own.dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler);
  },
};

interface Service {
  readonly baseURL?: string;
  readonly apiKey?: string;
  readonly fetch: Fetch;
}

type Open = (model: string, service: Service) => LanguageModelV4;

/** Without a key, these providers would read a variable that is not the router's. */
const noKey = { apiKey: "none" };

// Each is loaded at its first message: together they are most of the code that replies.
const open: Readonly<Record<UpstreamType, () => Promise<Open>>> = {
  async gateway() {
    const { createGateway } = await import("ai");
    return (model, service) => createGateway({ ...noKey, ...service })(model);
  },
  async "openai-chat"() {
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    const named = { name: openAiChatProvider, includeUsage: true, supportsStructuredOutputs: true };
    return (model, service) => createOpenAICompatible({ ...named, baseURL: "", ...service })(model);
  },
  async "openai-responses"() {
    const { createOpenAI } = await import("@ai-sdk/openai");
    return (model, service) => createOpenAI({ ...noKey, ...service }).responses(model);
  },
  async anthropic() {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    return (model, { baseURL, ...service }) =>
      createAnthropic({ ...noKey, ...service, baseURL: `${baseURL}/v1` })(model);
  },
};
