import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createGateway, type LanguageModel } from "ai";
import {
  createCatalog,
  createEvaluator,
  gatewayTransport,
  type Transport,
  transportFromEnvironment,
} from "evaluator-client";
import type { Emulator } from "evaluator-emulator";
import type { Environment } from "evaluator-kit";
import { redactor } from "../reply/redactor.ts";
import { type ReplyListener, replyFetch } from "../reply/reply-fetch.ts";
import type { RouterOptions } from "../router-options.ts";
import type { Tracing } from "./tracing.ts";
import type { openSharedLimit } from "./shared-limit.ts";

/** All services of a router. */
export type Services = ReturnType<typeof connectServices>;

interface ConnectOptions {
  readonly sharedLimit?: Awaited<ReturnType<typeof openSharedLimit>> | null;
  readonly tracing?: Tracing | null;
}

/** Connects the services; the emulator replaces missing ones. @throws ConfigurationError */
export function connectServices(
  { evaluator: env, reply, secrets }: RouterOptions["engines"],
  options: ConnectOptions = {},
) {
  globalThis.AI_SDK_LOG_WARNINGS = false; // the `ai` package would print them on the console
  const emulator = emulatedEngines(options);
  const evaluation =
    env === null
      ? emulator.evaluation
      : connectEvaluation(transportFromEnvironment(env), env, options);
  const replies = reply === null ? emulator.replies : connectReplies(reply);
  const missing = { decisions: env === null, replies: reply === null };
  return {
    ...evaluation,
    ...replies,
    redact: redactor(secrets),
    tracing: options.tracing ?? null,
    notice: describeServices(evaluation.decider, replies.replier, missing),
    /** Whether the emulator in this process decides or replies. */
    isEmulated: missing.decisions || missing.replies,
  };
}

function describeServices(
  decider: string,
  replier: string,
  missing: { readonly decisions: boolean; readonly replies: boolean },
): string {
  if (missing.decisions && missing.replies) {
    return "Answers come from the local emulator, not from a model: set AI_GATEWAY_API_KEY to use the real service, or EVALUATOR_TRANSPORT and ROUTER_REPLY_BASE_URL to use your own server.";
  }
  const services = `Decisions are asked of ${decider}. Replies come from ${replier}.`;
  if (!missing.decisions && !missing.replies) return services;
  const [part, variable] = missing.replies
    ? ["Replies", "ROUTER_REPLY_BASE_URL"]
    : ["Decisions", "EVALUATOR_TRANSPORT"];
  return `${services} ${part} of the emulator are no model's: set AI_GATEWAY_API_KEY or ${variable}.`;
}

function connectEvaluation(
  transport: Transport,
  env: Environment,
  { sharedLimit = null, tracing = null }: ConnectOptions,
) {
  const pacer = sharedLimit?.pacerFor(transport, env);
  const evaluator = createEvaluator({
    transport,
    env,
    ...(pacer !== undefined && { pacer }),
    ...(tracing !== null && { tracing: tracing.evaluation }),
  });
  const address = addressOf(transport);
  const how = transport.name === "logprobs" ? ", read from its log-probabilities" : "";
  return {
    evaluator,
    async close() {
      await evaluator.close();
      await pacer?.[Symbol.asyncDispose]();
    },
    /** The transport and its address, without user name or password. */
    engineAddress: `${transport.name} ${address}`,
    decider: `${transport.target?.modelId ?? "a model"} at ${address}${how}`,
  };
}

function addressOf({ target }: Transport): string {
  if (target === undefined) return "its own address";
  const { protocol, host, pathname } = new URL(target.url);
  return `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
}

function connectReplies(server: NonNullable<RouterOptions["engines"]["reply"]>) {
  const { apiKey, baseUrl } = server;
  if (server.kind === "gateway") {
    const address = baseUrl === undefined ? {} : { baseURL: baseUrl };
    return {
      catalog: createCatalog({ env: server.env, maxRetries: 0, deadlineMs: 5000 }),
      replier: `the gateway${baseUrl === undefined ? "" : ` at ${baseUrl}`}`,
      ...gatewayModels({ apiKey: server.apiKey, ...address }, fetchWithoutRedirects),
    };
  }
  return {
    takesOpenAi: true,
    languageModel(modelId: string, { listener, body }: ModelCall): LanguageModel {
      const fetch = replyFetch(fetchWithoutRedirects, listener, true);
      return createOpenAICompatible({
        name: "reply-server",
        baseURL: server.baseUrl,
        ...(apiKey !== null && { apiKey }),
        includeUsage: true,
        fetch,
        // The model's server gets addresses unchanged: the router fetches nothing for a client.
        supportedUrls: () => ({ "*/*": [/.*/] }),
        ...(body !== undefined && { transformRequestBody: (own) => withModel(body, own) }),
      })(modelId);
    },
    catalog: null,
    replier: `the models at ${server.baseUrl}`,
  };
}

function gatewayModels(
  options: { readonly apiKey: string; readonly baseURL?: string },
  fetch: typeof globalThis.fetch,
) {
  return {
    /** Whether it accepts an unchanged request in OpenAI's form, and models of any name. */
    takesOpenAi: false,
    languageModel: (modelId: string, { listener }: ModelCall): LanguageModel =>
      createGateway({ ...options, fetch: replyFetch(fetch, listener) })(modelId),
  };
}

/** Returns the client's request with the router's model and stream options. */
function withModel(body: Record<string, unknown>, own: Record<string, unknown>) {
  const { stream: _, stream_options: __, ...rest } = body;
  const { model, stream, stream_options } = own;
  return { ...rest, model, ...(stream === true && { stream, stream_options }) };
}

/** A redirect is a failure, so that no other origin gets the message. */
const fetchWithoutRedirects: typeof fetch = (input, init) =>
  fetch(input, { ...init, redirect: "manual" });

function emulatedEngines({ tracing = null }: ConnectOptions) {
  const [apiKey, baseUrl] = ["local", "http://emulator.invalid/v4/ai"]; // it never resolves
  let emulator: Promise<Emulator> | null = null; // loaded at the first call, with all its recordings
  const fetch: typeof globalThis.fetch = async (input, init) => {
    emulator ??= import("evaluator-emulator").then(({ createEmulator }) => createEmulator());
    return (await emulator).fetch(input, init);
  };
  const transport = gatewayTransport({ apiKey, baseUrl, fetch, env: {} });
  const evaluation = {
    ...connectEvaluation(transport, {}, { tracing }),
    engineAddress: "emulator local:emulator",
    decider: "the local emulator",
  };
  const replies = {
    catalog: createCatalog({ baseUrl, fetch, env: {} }),
    replier: "the local emulator",
    ...gatewayModels({ apiKey, baseURL: baseUrl }, fetch),
  };
  return { evaluation, replies };
}

interface ModelCall {
  readonly listener?: ReplyListener | undefined;
  /** The client's own request in OpenAI's form. */
  readonly body?: Record<string, unknown> | undefined;
}
