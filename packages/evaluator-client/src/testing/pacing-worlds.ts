import type { BatchLimits } from "../batch/run-batch.ts";
import { sleep } from "../clock.ts";
import { LimitedService, seededRandom, type ServiceLimit } from "./limited-service.ts";
import { ManualClock } from "./manual-clock.ts";
import { simulateBatch, simulateCalls } from "./simulation.ts";

/** What a world shows with one seed, by the name of the figure. */
type Figures = Readonly<Record<string, number>>;

type Statistic = "worst" | "p10" | "median" | "mean";

/** How large a figure must be, or how small it must stay. */
interface Goal {
  readonly figure: string;
  readonly isBestHigh: boolean;
  readonly limits: Partial<Record<Statistic, number>>;
}

/** A service, and what the client has to reach with it. */
export interface World {
  readonly name: string;
  readonly goals: readonly Goal[];
  /** Plays the world in simulated time. */
  readonly play: (seed: number) => Promise<Figures>;
}

/** A figure of a world over all seeds. */
export interface Result extends Record<Statistic, number> {
  readonly figure: string;
  /** The seed that gave the worst. */
  readonly worstSeed: number;
  /** The goals that were missed, each as a sentence. */
  readonly missed: readonly string[];
}

/** Plays a world once for each seed, and returns its figures beside its goals. */
export async function playWorld(world: World, seeds: readonly number[]): Promise<Result[]> {
  const runs: { seed: number; figures: Figures }[] = [];
  for (const seed of seeds) runs.push({ seed, figures: await world.play(seed) });
  return world.goals.map((goal) => {
    const values = runs.map(({ seed, figures }) => ({ seed, value: figures[goal.figure] ?? NaN }));
    return judge(goal, values);
  });
}

function judge(goal: Goal, values: { seed: number; value: number }[]): Result {
  const { figure, isBestHigh, limits } = goal;
  const sign = isBestHigh ? 1 : -1;
  const sorted = values.toSorted((one, other) => sign * (one.value - other.value));
  const at = (share: number) => sorted[Math.floor(share * sorted.length)]?.value ?? NaN;
  const mean = sorted.reduce((sum, { value }) => sum + value, 0) / sorted.length;
  const statistics = { worst: at(0), p10: at(0.1), median: at(0.5), mean };
  const worstSeed = sorted[0]?.seed ?? NaN;
  const missed = Object.entries(limits).flatMap(([name, limit]) => {
    const value = statistics[name as Statistic];
    // Not a number is missed as well.
    if (sign * value >= sign * limit) return [];
    const wanted = `${isBestHigh ? "at least" : "at most"} ${limit}`;
    return `${figure}: ${name} ${value}, wanted ${wanted}; the worst seed is ${worstSeed}`;
  });
  return { figure, worstSeed, missed, ...statistics };
}

const nothingLost: Goal = { figure: "lost", isBestHigh: false, limits: { worst: 0 } };

/** A service without a limit that refuses some attempts for no reason. */
interface Strays {
  readonly latencyMs: number;
  /** Whether a refusal comes after 1 ms, and not as late as an answer. */
  readonly refusesAtOnce: boolean;
  readonly retryAfterMs: number | null;
  readonly concurrency: number;
  readonly items: number;
  readonly share: number;
  readonly refusesFirst?: boolean;
  readonly order?: BatchLimits["order"];
}

const services = [
  { latencyMs: 20, refusesAtOnce: true, retryAfterMs: 1000, concurrency: 16 },
  { latencyMs: 100, refusesAtOnce: false, retryAfterMs: 1000, concurrency: 32 },
  { latencyMs: 1000, refusesAtOnce: true, retryAfterMs: 5000, concurrency: 8 },
];
const otherServices = [
  { latencyMs: 10, refusesAtOnce: false, retryAfterMs: 0, concurrency: 8, items: 1500 },
  { latencyMs: 300, refusesAtOnce: true, retryAfterMs: 5000, concurrency: 64, items: 400 },
  { latencyMs: 1000, refusesAtOnce: false, retryAfterMs: null, concurrency: 16, items: 400 },
];

/** Services without a limit: a batch is about as fast as a plain loop. */
export const strayWorlds: readonly World[] = [
  ...[0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1].flatMap((share) =>
    [64, 400].flatMap((items) =>
      services.map((service) => strayWorld({ ...service, share, items })),
    ),
  ),
  ...services.flatMap((service) =>
    [0, 0.01].map((share) => strayWorld({ ...service, share, items: 400, refusesFirst: true })),
  ),
  ...otherServices.map((service) => strayWorld({ ...service, share: 0.05, order: "completion" })),
];

function strayWorld(strays: Strays): World {
  const { share, refusesFirst = false, latencyMs, items, order = "input" } = strays;
  const refused = `${100 * share} %${refusesFirst ? " and the first" : ""} refused`;
  return {
    name: `${refused}, ${latencyMs} ms, ${items} items in order of ${order}`,
    goals: [
      { figure: "rate", isBestHigh: true, limits: { worst: 0.5, p10: 0.8, median: 0.95 } },
      nothingLost,
    ],
    play: (seed) => playStrays(strays, seed),
  };
}

/** Returns the rate of a batch as a share of a plain loop's, and how many calls it lost. */
async function playStrays(strays: Strays, seed: number): Promise<Figures> {
  const { items, concurrency, retryAfterMs, order = "input" } = strays;
  const clock = new ManualClock();
  const attempts = attemptsOf(strays, seed);
  const { failed } = await simulateBatch({
    clock,
    random: seededRandom(seed),
    ask: async (item) => {
      const { isRefused, ms } = attempts(item);
      await sleep(ms, { clock });
      return isRefused ? { retryAfterMs } : null;
    },
    end: { items },
    maxRetries: 6,
    limits: { concurrency, order },
  });
  return { rate: plainLoopMs(strays, seed) / clock.now(), lost: failed };
}

/** Returns how the next attempt of an item ends, the same for the same seed. */
function attemptsOf({ share, refusesFirst, latencyMs, refusesAtOnce }: Strays, seed: number) {
  const randoms = new Map<number, () => number>();
  return (item: number) => {
    const isFirst = item === 0 && !randoms.has(item);
    const random = randoms.get(item) ?? seededRandom(Math.imul(seed, 1_000_003) + item);
    randoms.set(item, random);
    const isRefused = random() < share || (isFirst && refusesFirst === true);
    const answerMs = latencyMs * (0.5 + random());
    return { isRefused, ms: isRefused && refusesAtOnce ? 1 : answerMs };
  };
}

/** Returns how long a loop takes whose calls retry alone: after `Retry-After` and up to a tenth, or 1, 2, 4 … s. */
function plainLoopMs(strays: Strays, seed: number): number {
  const { items, concurrency, retryAfterMs } = strays;
  const attempts = attemptsOf(strays, seed);
  const random = seededRandom(-seed);
  const freeAtMs = Array.from({ length: concurrency }, () => 0);
  for (let item = 0; item < items; item += 1) {
    let nowMs = Math.min(...freeAtMs);
    const worker = freeAtMs.indexOf(nowMs);
    let { isRefused, ms } = attempts(item);
    for (let waitMs = 1000; isRefused; waitMs *= 2) {
      nowMs += ms + (retryAfterMs === null ? waitMs : retryAfterMs * (1 + random() / 10));
      ({ isRefused, ms } = attempts(item));
    }
    freeAtMs[worker] = nowMs + ms;
  }
  return Math.max(...freeAtMs);
}

const found: readonly Goal[] = [
  { figure: "used", isBestHigh: true, limits: { mean: 0.9 } },
  { figure: "refused", isBestHigh: false, limits: { mean: 0.02 } },
  nothingLost,
];

const perSecond = { limit: 20, windowMs: 1000, refusesAtOnce: true } as const;
const perMinute = { ...perSecond, limit: 1200, windowMs: 60_000 } as const;
const waits = ["exact", "seconds", "absent"] as const;

/** Services with a limit that they do not announce: the rate is found within a minute. */
export const limitWorlds: readonly World[] = [
  ...waits.flatMap((retryAfter) => [
    limitWorld({ ...perSecond, kind: "bucket", burst: 2, retryAfter }),
    limitWorld({ ...perSecond, kind: "bucket", retryAfter }),
  ]),
  ...(["window", "sliding"] as const).flatMap((kind) =>
    (["seconds", "absent"] as const).flatMap((retryAfter) => [
      limitWorld({ ...perSecond, limit: 30, kind, retryAfter }),
      limitWorld({ ...perMinute, kind, retryAfter }),
    ]),
  ),
  ...[0.5, 3].flatMap((times) =>
    (["seconds", "absent"] as const).map((retryAfter) => {
      const later = { fromMs: 60_000, limit: times * perSecond.limit };
      return limitWorld({ ...perSecond, kind: "bucket", retryAfter, later });
    }),
  ),
];

function limitWorld(limit: ServiceLimit): World {
  const { kind, burst = limit.limit, retryAfter, windowMs, later } = limit;
  const counts =
    kind === "bucket"
      ? `bucket that holds ${burst}`
      : kind === "sliding"
        ? "sliding window"
        : "window";
  const change = later === undefined ? "" : `, then ${later.limit}`;
  return {
    name: `${counts}, ${limit.limit} in ${windowMs / 1000} s${change}, Retry-After ${retryAfter}`,
    goals: found,
    play: (seed) => playLimit(limit, seed),
  };
}

/** Returns the share of the limit that is used and that of the requests refused, once the rate is found. */
async function playLimit(limit: ServiceLimit, seed: number): Promise<Figures> {
  const clock = new ManualClock();
  const service = new LimitedService(clock, seededRandom(seed + 1000), limit);
  const fromMs = (limit.later?.fromMs ?? 0) + 60_000;
  const forMs = Math.max(60_000, 3 * limit.windowMs);
  let [before, after] = [service.counts, service.counts];
  clock.schedule(fromMs, () => (before = service.counts));
  clock.schedule(fromMs + forMs, () => (after = service.counts));
  const { failed } = await simulateBatch({
    clock,
    random: seededRandom(seed),
    ask: () => service.ask(),
    end: { atMs: fromMs + forMs },
    limits: { concurrency: 32 },
  });
  const requests = after.requests - before.requests;
  const refused = after.throttled - before.throttled;
  const used = (requests - refused) / (after.allowed - before.allowed);
  return { used, refused: refused / requests, lost: failed };
}

/** Buckets in which calls are refused again and again: no call uses up its retries. */
export const smallBucketWorlds: readonly World[] = [5, 10, 20].flatMap((limit) =>
  [2, 5].map((burst) => ({
    name: `bucket of ${limit} a second that holds ${burst}`,
    goals: [nothingLost],
    play: async (seed) => {
      const clock = new ManualClock();
      const bucket = { ...perSecond, kind: "bucket", limit, burst, retryAfter: "exact" } as const;
      const random = seededRandom(seed + 1000);
      const service = new LimitedService(clock, random, { ...bucket, latencyMs: 20 });
      const { failed } = await simulateBatch({
        clock,
        random: seededRandom(seed),
        ask: () => service.ask(),
        end: { items: 10 * limit },
        limits: { concurrency: 32 },
      });
      return { lost: failed };
    },
  })),
);

/** Calls that begin together: nothing is held back before a refusal, or within a known limit. */
export const startWorlds: readonly World[] = [
  { calls: 8, limits: {} },
  { calls: 64, limits: {} },
  { calls: 256, limits: {} },
  // 95 % of the limit is used.
  { calls: 95, limits: { requestsPerMinute: 6000 } },
].map(({ calls, limits }) => ({
  name: `${calls} calls at once, limits ${JSON.stringify(limits)}`,
  goals: [{ figure: "times one call", isBestHigh: false, limits: { worst: 1.2 } }],
  play: async () => ({ "times one call": (await simulateCalls(calls, limits, 300)) / 300 }),
}));
