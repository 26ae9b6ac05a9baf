import {
  createEvaluator,
  createPacer,
  type Evaluator,
  gatewayTransport,
  type LimitStore,
  type Middleware,
  sharedPacer,
  type Transport,
} from "evaluator-client";
import { watchProbes } from "./watch-probes.ts";
import { type Budget, budget } from "evaluator-client/budget";
import { cache, type EvaluationStore } from "evaluator-client/cache";
import { fallback } from "evaluator-client/fallback";
import { createHash } from "node:crypto";
import { limitsOf, type Plan } from "../plan/plan.ts";
import type { ProcessClock } from "../time/process-clock.ts";
import type { Random } from "../time/random.ts";
import type { World } from "../world.ts";

/** How a client asks, the same in each of its lives. */
export interface ClientSetting {
  readonly model: string;
  readonly baseUrl: string;
  /** Its own pacer without a known limit, with the service's, or the pacer that all clients share. */
  readonly pacing: "own" | "known" | "shared";
  readonly hasCache: boolean;
  readonly hasFallback: boolean;
  /** The budget of each life in US dollars, or null. */
  readonly budgetUsd: number | null;
  readonly concurrency: number;
  readonly order: "input" | "completion";
}

/** What all clients of a simulation share. */
export interface SharedByClients {
  readonly limits: LimitStore;
  readonly cached: EvaluationStore;
  /** The right answers as JSON, by model, address and state. */
  readonly right: Map<string, string>;
  /** When each answer was there, by model, address and state. */
  readonly known: Map<string, number>;
}

// Half of the clients ask another model at the same address, or the same at another.
const models = ["maker/one", "maker/two"];
const addresses = ["https://gateway.example/v4/ai", "https://other.example/v4/ai"];
export const secondAddress = "https://second.example/v4/ai";
export const secondModel = "maker/second";
// A pacer that is not told a limit finds it from some hundred answers, so many a second in a minute,
// unless many requests overtake each other.
const FOUND_PER_SECOND = 12;
const FOUND_LATENCY_MS = 100;
// As long as a lease of a shared limit lasts.
const STORE_MS = 100;
const USD_PER_MILLION_TOKENS = 0.042;

/** Draws the settings of all clients. */
export function drawSettings(random: Random, plan: Plan): ClientSetting[] {
  const { clients, load, service } = plan;
  if (load === "mixed") return drawMixed(random, clients);
  // Twice the calls at once that the limit needs; a call also waits for the store of limits.
  const limits = limitsOf(plan);
  const perSecond = Math.max(...limits.map((limit) => limit.perSecond));
  const perAnswer = (perSecond * (service.latencyMs + STORE_MS)) / 1000;
  const concurrency = 2 + Math.ceil(2 * perAnswer);
  const alone = { hasCache: false, hasFallback: false, budgetUsd: null, concurrency };
  const isFound = perSecond >= FOUND_PER_SECOND && service.latencyMs <= FOUND_LATENCY_MS;
  const told = ["known", "shared"] as const;
  const alike = isFound ? (["own", ...told] as const) : told;
  const drawn = clients === 1 ? random.pick(alike) : "shared";
  // A limit that was told does not change.
  const pacing = limits.length > 1 ? "own" : drawn;
  return drawMixed(random, clients).map((setting) => Object.assign(setting, { ...alone, pacing }));
}

function drawMixed(random: Random, clients: number): ClientSetting[] {
  const pacing = random.pick(["own", "known", "shared", "shared"] as const);
  const hasCache = random.chance(0.5);
  return Array.from({ length: clients }, () => ({
    model: random.pick(models),
    baseUrl: random.pick(addresses),
    pacing,
    hasCache,
    hasFallback: random.chance(0.3),
    budgetUsd: random.chance(0.7) ? random.magnitude(2e-5, 2e-2) : null,
    concurrency: random.whole(1, 6),
    order: random.pick(["input", "completion"] as const),
  }));
}

/** A request of an evaluator, as its hooks and the budget see it. */
export interface ClientParts {
  readonly evaluator: Evaluator;
  readonly budget: Budget | null;
  readonly transport: Transport;
}

/** Makes the evaluator of one life of a client. */
export function connectClient(
  world: World,
  {
    setting,
    clock,
    name,
    shared,
    onBegin,
    onLost,
  }: {
    readonly setting: ClientSetting;
    readonly clock: ProcessClock;
    readonly name: string;
    readonly shared: SharedByClients;
    /** Is called with each request whose answer was counted and lost. */
    readonly onLost: (body: string) => void;
    /** A middleware between budget and transport. */
    readonly onBegin: Middleware;
  },
): ClientParts {
  const { apiKey, secrets } = world;
  const random = world.random(`${name} ${clock.time.nowMs}`);
  const runtime = { clock, random: random.next, newId: world.newId };
  const { limit } = world.plan.service;
  const limits = { requestsPerMinute: (limit?.perSecond ?? 20) * 60 };
  const caller = { name, clock, apiKey, follower: { lost: onLost } };
  const { model: modelId, baseUrl } = setting;
  const fetch = world.service.connect(caller);
  const transport = gatewayTransport({ apiKey, baseUrl, modelId, fetch, env: {} });
  const log = (line: string) => secrets.check("a log", line);
  const evaluator = createEvaluator(
    {
      transport,
      logger: { debug: log, info: log, warn: log, error: log },
      pacer:
        setting.pacing === "shared"
          ? sharedPacer({ store: shared.limits, key: "all", limits }, runtime)
          : watchProbes(createPacer(setting.pacing === "known" ? limits : {}, runtime), world),
    },
    runtime,
  );
  const second = gatewayTransport({
    apiKey,
    baseUrl: secondAddress,
    modelId: secondModel,
    fetch: world.second.connect(caller),
    env: {},
  });
  const helper = createEvaluator({ transport: second }, runtime);
  const { budgetUsd: maxCostUsd } = setting;
  const own =
    maxCostUsd === null
      ? null
      : budget({ maxCostUsd, usdPerMillionTokens: USD_PER_MILLION_TOKENS });
  const kept = setting.hasCache ? cache({ store: shared.cached }, { sha256 }) : null;
  // Answers of the second service are not kept as those of the first.
  const chain = setting.hasFallback ? [onBegin, kept, fallback(helper), own] : [onBegin, own, kept];
  const through = chain.reduce<Evaluator>((one, each) => (each ? one.with(each) : one), evaluator);
  return { evaluator: through, budget: own, transport };
}

// In the thread of the simulation: the platform's own answers from another one, in another order each time.
async function sha256(bytes: Uint8Array): Promise<ArrayBuffer> {
  return new Uint8Array(createHash("sha256").update(bytes).digest()).buffer;
}
