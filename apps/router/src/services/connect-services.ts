import {
  createCatalog,
  createEvaluator,
  gatewayTransport,
  keyFromEnvironment,
  type Transport,
  transportFromEnvironment,
} from "evaluator-client";
import { cache } from "evaluator-client/cache";
import type { Emulator } from "evaluator-emulator";
import type { Environment } from "evaluator-kit";
import type { Replies } from "../decision/replies.ts";
import { type Tier, tierNames } from "../decision/tier-question.ts";
import { toAddress, connectDecisions, toService } from "../evaluations/evaluation-services.ts";
import { timedStore } from "../evaluations/timed-store.ts";
import { EVALUATION_USD_PER_MILLION_TOKENS } from "../keys/call-price.ts";
import { redactor } from "../reply/redactor.ts";
import {
  type Capabilities,
  connectUpstream,
  type ReplyPlan,
  type Target,
  type Upstream,
  type UpstreamOptions,
} from "../reply/upstream.ts";
import type { RouterOptions } from "../router-options.ts";
import type { Tracing } from "./tracing.ts";
import type { openSharedLimit } from "./shared-limit.ts";

/** All services of a router. */
export type Services = ReturnType<typeof connectServices>;

type ReplySettings = Pick<
  RouterOptions,
  "aliases" | "config" | "decisionCacheSeconds" | "http" | "policy" | "tierModels" | "waiting"
>;

interface ConnectOptions {
  readonly sharedLimit?: Awaited<ReturnType<typeof openSharedLimit>> | null;
  readonly tracing?: Tracing | null;
}

/** Connects the services; the emulator replaces missing ones. @throws ConfigurationError */
export function connectServices(
  settings: Pick<RouterOptions, "engines"> & ReplySettings,
  options: ConnectOptions = {},
) {
  const { evaluator: env, reply, secrets } = settings.engines;
  const { http } = settings;
  const emulator = emulatedEngines(options);
  const ownEvaluation = env && connectEvaluation(transportFromEnvironment(env), env, options);
  const evaluation = ownEvaluation ?? emulator.evaluation;
  const upstream = reply === null ? emulator.upstream : connectUpstream({ ...reply, env: http });
  const toReplies = (givenReplySettings: ReplySettings) => {
    const gateways = [
      ...(givenReplySettings.config?.upstreams.values() ?? []),
      ...(reply ? [reply] : []),
    ]
      .filter(({ type }) => type === "gateway")
      .map(({ baseUrl }) => [baseUrl ?? "", openCatalog(baseUrl)] as const);
    const own = gateways.length === 0 && reply === null ? [emulator.catalog] : [];
    const catalogs = [...new Map(gateways).values(), ...own];
    return { current: configureReplies(upstream, givenReplySettings), catalogs };
  };
  const replies = { ...toReplies(settings), capabilities: new Map<string, Capabilities>() };
  const own = evaluation.service;
  const parts = {
    tracing: options.tracing?.evaluation ?? null,
    pacerFor: options.sharedLimit?.pacerFor ?? null,
  };
  const { decisionCacheSeconds: seconds } = settings;
  const keptCache = seconds === null ? null : cache({ store: timedStore(seconds) });
  const toDecisions = ({ config }: ReplySettings) =>
    connectDecisions(config, own, { ...parts, cache: keptCache });
  const decisions = { current: toDecisions(settings) };
  const openedServices = [decisions.current];
  const askedUpstreams = Object.values(replies.current.tiers).map(
    ({ targets }) => targets[0].upstream,
  );
  const names = askedUpstreams.map((each) =>
    each === upstream ? describeReplier(reply) : each.name,
  );
  const replier = [...new Set(names)].join(", ");
  const missing = {
    decisions: env === null,
    replies: reply === null && askedUpstreams.includes(upstream),
  };
  const redact = redactor(secrets);
  return {
    ...evaluation,
    replier,
    /** Who replies, the price lists of their gateways, and what listed models can take. */
    replies,
    /** Who answers the clients' own questions. */
    decisions,
    /** Replaces who replies and who answers; calls in flight keep theirs. @throws ConfigurationError */
    reconfigure(next: typeof settings): void {
      const current = toDecisions(next);
      openedServices.push(current);
      redact.learn(next.engines.secrets);
      Object.assign(replies, toReplies(next));
      Object.assign(decisions, { current });
    },
    async close() {
      const evaluators = openedServices.flatMap(({ list }) =>
        list.map(({ evaluator }) => evaluator),
      );
      await Promise.all(evaluators.map((each) => each.close()));
      await evaluation.close();
    },
    redact,
    tracing: options.tracing ?? null,
    notice: describeServices(evaluation.decider, replier, missing),
    /** Whether the emulator in this process decides or replies. */
    isEmulated: missing.decisions || missing.replies,
  };
}

/** Returns who replies; models and tiers that the file does not name are of the given upstream. */
export function configureReplies(
  upstream: Upstream,
  { aliases, config, http: env, policy, tierModels, waiting }: ReplySettings,
): Replies {
  const namedEntries = [...(config?.upstreams ?? [])];
  const upstreams = new Map(
    namedEntries.map(([name, each]) => [name, connectUpstream({ name, env, ...each })]),
  );
  const toPlan = (by: Upstream, ...models: readonly [string, ...string[]]): ReplyPlan => {
    const [first, ...later] = models.map((model): Target => ({ upstream: by, model, price: null }));
    return { targets: [first as Target, ...later], maxRetries: 2, ...waiting };
  };
  const plans = tierNames.map((tier): [Tier, ReplyPlan] => {
    const givenTier = config?.tiers[tier];
    const model = tierModels[tier];
    const fallbacks = policy.fallbackModels.filter((each) => each !== model);
    if (givenTier === undefined) return [tier, toPlan(upstream, model, ...fallbacks)];
    const [first, ...later] = givenTier.targets.map((target): Target => {
      return { ...target, upstream: upstreams.get(target.upstream) ?? upstream }; // the schema knows each
    });
    return [tier, { ...waiting, ...givenTier, targets: [first as Target, ...later] }];
  });
  const configuredModels = new Map(
    plans.flatMap(([, plan]) => plan.targets.map((target) => [target.model, { plan, target }])),
  );
  // The emulator has no real models.
  const others = upstream.name === EMULATOR ? [...upstreams.values()] : [];
  const gateway = others.find(({ type }) => type === "gateway") ?? upstream;
  return {
    tiers: Object.fromEntries(plans) as Record<Tier, ReplyPlan>,
    aliases,
    isConfigured: (model) => configuredModels.has(model),
    planOfModel(model) {
      const configuredModel = configuredModels.get(model);
      if (configuredModel !== undefined)
        return { ...configuredModel.plan, targets: [configuredModel.target] };
      if (upstream.type !== "gateway") return toPlan(upstream, model);
      return model.includes("/") ? toPlan(gateway, model) : null;
    },
  };
}

function openCatalog(baseUrl: UpstreamOptions["baseUrl"]) {
  return createCatalog({ ...(baseUrl && { baseUrl }), env: {}, maxRetries: 0, deadlineMs: 5000 });
}

function describeReplier(reply: UpstreamOptions | null): string {
  if (reply === null) return "the local emulator";
  if (reply.type !== "gateway") return `the models at ${reply.baseUrl}`;
  return `the gateway${reply.baseUrl ? ` at ${reply.baseUrl}` : ""}`;
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
  const pacer = sharedLimit?.pacerFor(transport, keyFromEnvironment(env) ?? "");
  const evaluator = createEvaluator({
    transport,
    env,
    ...(pacer !== undefined && { pacer }),
    ...(tracing !== null && { tracing: tracing.evaluation }),
  });
  const address = toAddress(transport);
  const how = transport.name === "logprobs" ? ", read from its log-probabilities" : "";
  const isVendors = transport.name === "gateway" || transport.name === "direct";
  const usual = isVendors ? EVALUATION_USD_PER_MILLION_TOKENS : null;
  const price = transport.usdPerMillionTokens ?? usual;
  const service = toService({
    name: transport.name,
    evaluator,
    transport,
    price,
    reportsCost: true,
  });
  return {
    evaluator,
    /** The evaluator as a service that answers clients' own questions. */
    service,
    async close() {
      await evaluator.close();
      await pacer?.[Symbol.asyncDispose]();
    },
    /** The transport and its address, without user name or password. */
    engineAddress: `${transport.name} ${address}`,
    decider: `${transport.target?.modelId ?? "a model"} at ${address}${how}`,
  };
}

const EMULATOR = "emulator";

function emulatedEngines({ tracing = null }: ConnectOptions) {
  const [apiKey, baseUrl] = ["local", "http://emulator.invalid/v4/ai"]; // it never resolves
  let emulator: Promise<Emulator> | null = null; // loaded at the first call, with all its recordings
  const fetch: typeof globalThis.fetch = async (input, init) => {
    emulator ??= import("evaluator-emulator").then(({ createEmulator }) => createEmulator());
    return (await emulator).fetch(input, init);
  };
  const transport = gatewayTransport({ apiKey, baseUrl, fetch, env: {} });
  const connectedService = connectEvaluation(transport, {}, { tracing });
  const evaluation = {
    ...connectedService,
    service: { ...connectedService.service, name: EMULATOR, address: "emulator local:emulator" },
    engineAddress: "emulator local:emulator",
    decider: "the local emulator",
  };
  const upstream = connectUpstream({ type: "gateway", name: EMULATOR, apiKey, baseUrl, fetch });
  return { evaluation, upstream, catalog: createCatalog({ baseUrl, fetch, env: {} }) };
}
