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
  const emulated = emulatedEngines(options);
  const ownEvaluation = env && connectEvaluation(transportFromEnvironment(env), env, options);
  const evaluation = ownEvaluation ?? emulated.evaluation;
  const upstream = reply === null ? emulated.upstream : connectUpstream({ ...reply, env: http });
  const toReplies = (givenReplySettings: ReplySettings) => {
    const gatewayCatalogs = [
      ...(givenReplySettings.config?.upstreams.values() ?? []),
      ...(reply ? [reply] : []),
    ]
      .filter(({ type }) => type === "gateway")
      .map(({ baseUrl }) => [baseUrl ?? "", openCatalog(baseUrl)] as const);
    const ownCatalogs = gatewayCatalogs.length === 0 && reply === null ? [emulated.catalog] : [];
    const catalogs = [...new Map(gatewayCatalogs).values(), ...ownCatalogs];
    return { current: configureReplies(upstream, givenReplySettings), catalogs };
  };
  const replies = { ...toReplies(settings), capabilities: new Map<string, Capabilities>() };
  const ownService = evaluation.service;
  const connectParts = {
    tracing: options.tracing?.evaluation ?? null,
    pacerFor: options.sharedLimit?.pacerFor ?? null,
  };
  const { decisionCacheSeconds: cacheSeconds } = settings;
  const keptCache = cacheSeconds === null ? null : cache({ store: timedStore(cacheSeconds) });
  const toDecisions = ({ config }: ReplySettings) =>
    connectDecisions(config, ownService, { ...connectParts, cache: keptCache });
  const decisions = { current: toDecisions(settings) };
  const openedServices = [decisions.current];
  const askedUpstreams = Object.values(replies.current.tiers).map(
    ({ targets }) => targets[0].upstream,
  );
  const replierNames = askedUpstreams.map((askedUpstream) =>
    askedUpstream === upstream ? describeReplier(reply) : askedUpstream.name,
  );
  const replier = [...new Set(replierNames)].join(", ");
  const missingParts = {
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
    reconfigure(nextSettings: typeof settings): void {
      const current = toDecisions(nextSettings);
      openedServices.push(current);
      redact.learn(nextSettings.engines.secrets);
      Object.assign(replies, toReplies(nextSettings));
      Object.assign(decisions, { current });
    },
    async close() {
      const evaluators = openedServices.flatMap(({ list }) =>
        list.map(({ evaluator }) => evaluator),
      );
      await Promise.all(evaluators.map((evaluator) => evaluator.close()));
      await evaluation.close();
    },
    redact,
    tracing: options.tracing ?? null,
    notice: describeServices(evaluation.decider, replier, missingParts),
    /** Whether the emulator in this process decides or replies. */
    isEmulated: missingParts.decisions || missingParts.replies,
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
  const tierPlans = tierNames.map((tier): [Tier, ReplyPlan] => {
    const givenTier = config?.tiers[tier];
    const tierModel = tierModels[tier];
    const fallbackModels = policy.fallbackModels.filter((each) => each !== tierModel);
    if (givenTier === undefined) return [tier, toPlan(upstream, tierModel, ...fallbackModels)];
    const [firstTarget, ...laterTargets] = givenTier.targets.map((givenTarget): Target => {
      return { ...givenTarget, upstream: upstreams.get(givenTarget.upstream) ?? upstream }; // the schema knows each
    });
    return [tier, { ...waiting, ...givenTier, targets: [firstTarget as Target, ...laterTargets] }];
  });
  const configuredModels = new Map(
    tierPlans.flatMap(([, plan]) => plan.targets.map((target) => [target.model, { plan, target }])),
  );
  // The emulator has no real models.
  const otherUpstreams = upstream.name === EMULATOR ? [...upstreams.values()] : [];
  const gatewayUpstream = otherUpstreams.find(({ type }) => type === "gateway") ?? upstream;
  return {
    tiers: Object.fromEntries(tierPlans) as Record<Tier, ReplyPlan>,
    aliases,
    isConfigured: (modelName) => configuredModels.has(modelName),
    planOfModel(modelName) {
      const configuredModel = configuredModels.get(modelName);
      if (configuredModel !== undefined)
        return { ...configuredModel.plan, targets: [configuredModel.target] };
      if (upstream.type !== "gateway") return toPlan(upstream, modelName);
      return modelName.includes("/") ? toPlan(gatewayUpstream, modelName) : null;
    },
  };
}

function openCatalog(baseUrl: UpstreamOptions["baseUrl"]) {
  return createCatalog({ ...(baseUrl && { baseUrl }), env: {}, maxRetries: 0, deadlineMs: 5000 });
}

function describeReplier(replyServer: UpstreamOptions | null): string {
  if (replyServer === null) return "the local emulator";
  if (replyServer.type !== "gateway") return `the models at ${replyServer.baseUrl}`;
  return `the gateway${replyServer.baseUrl ? ` at ${replyServer.baseUrl}` : ""}`;
}

function describeServices(
  decider: string,
  replier: string,
  missing: { readonly decisions: boolean; readonly replies: boolean },
): string {
  if (missing.decisions && missing.replies) {
    return "Answers come from the local emulator, not from a model: set AI_GATEWAY_API_KEY to use the real service, or EVALUATOR_TRANSPORT and ROUTER_REPLY_BASE_URL to use your own server.";
  }
  const servicesText = `Decisions are asked of ${decider}. Replies come from ${replier}.`;
  if (!missing.decisions && !missing.replies) return servicesText;
  const [missingPart, missingVariable] = missing.replies
    ? ["Replies", "ROUTER_REPLY_BASE_URL"]
    : ["Decisions", "EVALUATOR_TRANSPORT"];
  return `${servicesText} ${missingPart} of the emulator are no model's: set AI_GATEWAY_API_KEY or ${missingVariable}.`;
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
  const readingNote = transport.name === "logprobs" ? ", read from its log-probabilities" : "";
  const isVendors = transport.name === "gateway" || transport.name === "direct";
  const usualPrice = isVendors ? EVALUATION_USD_PER_MILLION_TOKENS : null;
  const price = transport.usdPerMillionTokens ?? usualPrice;
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
    decider: `${transport.target?.modelId ?? "a model"} at ${address}${readingNote}`,
  };
}

const EMULATOR = "emulator";

function emulatedEngines({ tracing = null }: ConnectOptions) {
  const [apiKey, baseUrl] = ["local", "http://emulator.invalid/v4/ai"]; // it never resolves
  let emulator: Promise<Emulator> | null = null; // loaded at the first call, with all its recordings
  const fetch: typeof globalThis.fetch = async (requestInput, init) => {
    emulator ??= import("evaluator-emulator").then(({ createEmulator }) => createEmulator());
    return (await emulator).fetch(requestInput, init);
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
