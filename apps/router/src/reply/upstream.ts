import type { LanguageModelV4 } from "@ai-sdk/provider";
import { type ChunkSink, createHttpClient, type StreamedResponse } from "evaluator-client/http";
import type { Environment } from "evaluator-kit";
import { openAiChatProvider, type UpstreamType } from "../conversation/upstream-types.ts";
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
  /** Sends a request; a redirect is a failure, so that no other origin gets a message. */
  readonly send: Send;
  /** Returns a model of the service; its call with the signal goes through the given function. */
  readonly languageModel: (
    modelName: string,
    signal: AbortSignal,
    sendRequest: ProviderPost,
  ) => Promise<LanguageModelV4>;
}

/** The parts of a request that a provider writes. */
export interface ProviderRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Answers a request of a provider. */
type ProviderPost = (requestUrl: string, request: ProviderRequest) => Promise<Response>;

/** Posts a request. */
type Send = (
  requestUrl: string,
  request: ProviderRequest,
  signal: AbortSignal,
) => Promise<StreamedResponse>;

/** Returns an upstream that answers with a text that was received before. */
export function answering(upstream: Upstream, replyText: string, type: "event-stream" | "json") {
  const contentType = type === "json" ? "application/json" : "text/event-stream";
  const responseHead = { status: 200, statusText: "", headers: { "content-type": contentType } };
  const read = async (chunkSink: ChunkSink) => chunkSink(Buffer.from(replyText));
  return { ...upstream, send: async () => ({ ...responseHead, read }) };
}

/** The limits and abilities of a model; an absent value is unknown. */
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

/** Returns the name of a model that no other upstream shares. */
export function targetName({ upstream, model }: Target): string {
  return `${upstream.name} ${model}`;
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
  /** @default the client's own connections */
  readonly fetch?: Fetch | undefined;
  /** The variables that name proxies. */
  readonly env?: Environment | undefined;
}

/** Connects a service. */
export function connectUpstream({ fetch: givenFetch, env, ...options }: UpstreamOptions): Upstream {
  const { type, name, apiKey, baseUrl, keyVariable = null } = options;
  const httpClient = createHttpClient({ fetch: givenFetch, env: env ?? {} });
  const postsBySignal = new WeakMap<object, ProviderPost>(); // a provider passes its call's signal on
  const fetch: Fetch = async (requestUrl, init) => {
    const callPost = postsBySignal.get(Object(init?.signal));
    if (callPost === undefined) throw new Error("The request belongs to no call.");
    return callPost(requestUrl as string, init as ProviderRequest);
  };
  const keyField = apiKey !== null && { apiKey };
  const serviceOptions = { ...keyField, ...(baseUrl && { baseURL: baseUrl }), fetch };
  const modelsByName = new Map<string, LanguageModelV4>(); // making one costs 100 µs
  let opening: Promise<Open> | null = null; // an import costs 50 µs, each time
  return {
    name,
    type,
    keyVariable,
    isLocal: isOwnNetwork(URL.parse(baseUrl ?? "")),
    send: (url, { headers, body }, signal) =>
      httpClient.stream({ method: "POST", url, headers }, body, { signal }),
    async languageModel(modelName, signal, callPost) {
      postsBySignal.set(signal, callPost);
      const openModel = await (opening ??= openProvider[type](serviceOptions));
      const knownModel = modelsByName.get(modelName) ?? openModel(modelName);
      if (modelsByName.size >= MOST_MODELS) modelsByName.clear(); // clients may name any model
      modelsByName.set(modelName, knownModel);
      return knownModel;
    },
  };
}

const MOST_MODELS = 100;

interface Service {
  readonly baseURL?: string;
  readonly apiKey?: string;
  readonly fetch: Fetch;
}

type Open = (modelName: string) => LanguageModelV4;

/** Without a key, these providers would read a variable that is not the router's. */
const noKey = { apiKey: "none" };

// Each is loaded at its first message: together they are most of the code that replies.
const openProvider: Readonly<Record<UpstreamType, (serviceOptions: Service) => Promise<Open>>> = {
  async gateway(serviceOptions) {
    const { createGateway } = await import("ai");
    return createGateway({ ...noKey, ...serviceOptions });
  },
  async "openai-chat"(serviceOptions) {
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    const providerOptions = {
      name: openAiChatProvider,
      includeUsage: true,
      supportsStructuredOutputs: true,
    };
    return createOpenAICompatible({ ...providerOptions, baseURL: "", ...serviceOptions });
  },
  async "openai-responses"(serviceOptions) {
    const { createOpenAI } = await import("@ai-sdk/openai");
    const provider = createOpenAI({ ...noKey, ...serviceOptions });
    return (modelName) => provider.responses(modelName);
  },
  async anthropic({ baseURL, ...serviceOptions }) {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    return createAnthropic({ ...noKey, ...serviceOptions, baseURL: `${baseURL}/v1` });
  },
};
