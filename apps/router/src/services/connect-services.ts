import {
  type Catalog,
  createCatalog,
  createEvaluator,
  gatewayTransport,
  type Transport,
  transportFromEnvironment,
} from "evaluator-client";
import type { Emulator } from "evaluator-emulator";
import type { Environment } from "evaluator-kit";
import { redactor } from "../reply/redactor.ts";
import { connectUpstream, gatewayUpstream } from "../reply/upstream.ts";
import type { RouterOptions } from "../router-options.ts";
import { configureReplies } from "./configure-replies.ts";
import type { Tracing } from "./tracing.ts";
import type { openSharedLimit } from "./shared-limit.ts";

/** All services of a router. */
export type Services = ReturnType<typeof connectServices>;

type ServiceSettings = Pick<RouterOptions, "engines"> & Parameters<typeof configureReplies>[1];

interface ConnectOptions {
  readonly sharedLimit?: Awaited<ReturnType<typeof openSharedLimit>> | null;
  readonly tracing?: Tracing | null;
}

/** Connects the services; the emulator replaces missing ones. @throws ConfigurationError */
export function connectServices(settings: ServiceSettings, options: ConnectOptions = {}) {
  const { evaluator: env, reply, secrets } = settings.engines;
  const emulator = emulatedEngines(options);
  const evaluation =
    env === null
      ? emulator.evaluation
      : connectEvaluation(transportFromEnvironment(env), env, options);
  const { upstream, catalog, replier } = reply === null ? emulator.replies : connectReplies(reply);
  const replies = { current: configureReplies(upstream, settings) };
  const asked = Object.values(replies.current.tiers).map(({ targets }) => targets[0].upstream);
  const repliers = new Set(asked.map((each) => (each === upstream ? replier : each.name)));
  const missing = { decisions: env === null, replies: reply === null && asked.includes(upstream) };
  const redact = redactor(secrets);
  return {
    ...evaluation,
    catalog: gatewayCatalog(settings.config) ?? catalog,
    replier: [...repliers].join(", "),
    replies,
    /** Replaces who replies; calls in flight keep theirs. */
    reconfigure(next: ServiceSettings): void {
      redact.learn(next.engines.secrets);
      replies.current = configureReplies(upstream, next);
    },
    redact,
    tracing: options.tracing ?? null,
    notice: describeServices(evaluation.decider, [...repliers].join(", "), missing),
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

/** Returns the price list of a configured gateway; null without one. */
function gatewayCatalog(config: RouterOptions["config"]): Catalog | null {
  const upstreams = [...(config?.upstreams.values() ?? [])];
  const gateway = upstreams.find(({ type }) => type === "gateway");
  if (gateway === undefined) return null;
  const address = gateway.baseUrl === null ? {} : { baseUrl: gateway.baseUrl };
  return createCatalog({ ...address, env: {}, maxRetries: 0, deadlineMs: 5000 });
}

type ReplyServer = NonNullable<RouterOptions["engines"]["reply"]>;

/** Connects the service that replies for every tier without a configured upstream. */
function connectReplies(server: ReplyServer) {
  const { apiKey, baseUrl } = server;
  if (server.kind === "gateway") {
    return {
      catalog: createCatalog({ env: server.env, maxRetries: 0, deadlineMs: 5000 }),
      replier: `the gateway${baseUrl === undefined ? "" : ` at ${baseUrl}`}`,
      upstream: gatewayUpstream({ apiKey: server.apiKey, baseUrl }),
    };
  }
  return {
    catalog: null,
    replier: `the models at ${server.baseUrl}`,
    upstream: connectUpstream({
      type: "openai-chat",
      name: "reply-server",
      apiKey,
      keyVariable: "ROUTER_REPLY_API_KEY",
      baseUrl: server.baseUrl,
    }),
  };
}

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
    upstream: gatewayUpstream({ name: "emulator", apiKey, baseUrl, fetch }),
  };
  return { evaluation, replies };
}
