import { createPromiseDraw } from "../index.ts";
import type { PromiseDraw } from "../thresholds/promise-draw.ts";
import { seededRandom } from "../math/random.ts";

type Action = "yes" | "no";

/** Records with a known truth, of which some are labelled for a promise. */
export interface PromiseWorld {
  readonly name: string;
  /** The number of records. */
  readonly pool: number;
  /** The mean and the spread of the records' log odds of yes. */
  readonly odds: readonly [mean: number, spread: number];
  /** What is printed for a true probability. @default the same */
  readonly printed?: (p: number) => number;
  /** The true probability of yes at a printed value. @default the one that it was made from */
  readonly truth?: (printed: number) => number;
  /** The actions that share the level. */
  readonly actions: readonly Action[];
  /** The promise is about exactly these records: the risk of those without a label counts. */
  readonly isExact?: boolean;
  /** So many records are wrong, all printed alike. */
  readonly wrong?: number;
  /** The risk of later records, whose states are others. @default that in the pool */
  readonly laterRisk?: number;
  /** How many records have each state. @default 1 */
  readonly copies?: number;
  /** The most labels that the first promise may take in half of the rounds. */
  readonly medianLabels?: number;
}

const extreme = (factor: number) => (p: number) => 1 / (1 + ((1 - p) / p) ** factor);

/** Worlds as users have them, then three that are harder: shared level, wrong at the top, a small pool. */
export const promiseWorlds: readonly PromiseWorld[] = [
  { name: "yes in 50 %", pool: 2000, odds: [0, 5], actions: ["yes"], medianLabels: 90 },
  { name: "yes in 10 %", pool: 10_000, odds: [-8, 6], actions: ["yes"], medianLabels: 95 },
  { name: "yes in 2 %", pool: 30_000, odds: [-14, 7], actions: ["yes"], medianLabels: 110 },
  { name: "no, yes in 10 %", pool: 2000, odds: [-5, 4], actions: ["no"], medianLabels: 90 },
  {
    name: "overconfident",
    pool: 10_000,
    odds: [0, 3],
    printed: extreme(1.5),
    actions: ["yes"],
    medianLabels: 260,
  },
  { name: "5.2 % wrong", pool: 10_000, odds: [0, 3], truth: () => 0.948, actions: ["yes"] },
  { name: "yes and no", pool: 10_000, odds: [-1, 5], actions: ["yes", "no"], medianLabels: 230 },
  {
    name: "wrong at the top",
    pool: 10_000,
    odds: [0, 4],
    truth: (printed) => (printed > 0.97 ? 0.93 : printed),
    actions: ["yes", "no"],
  },
  {
    name: "a small pool, 6 % wrong",
    pool: 400,
    odds: [3, 2],
    truth: () => 0.94,
    actions: ["yes"],
  },
  copied({ name: "yes in 50 %", pool: 6000, odds: [0, 5], copies: 10, medianLabels: 90 }),
  ...[20, 120].map((copies) => {
    const about = { pool: 2400, odds: [3, 2] as const, copies };
    return copied({ name: "5.2 % wrong", ...about, truth: () => 0.948, laterRisk: 0.052 });
  }),
];

function copied(about: Omit<PromiseWorld, "actions"> & Partial<PromiseWorld>): PromiseWorld {
  return { actions: ["yes"], ...about, name: `${about.name}, states of ${about.copies} records` };
}

/** Backlogs as users have them, then those at the limit of a promise: one number of wrong records, printed alike. */
export const exactWorlds: readonly PromiseWorld[] = [
  ...[
    { pool: 300, medianLabels: 80 },
    { pool: 400, medianLabels: 74 },
    { pool: 600, medianLabels: 70 },
    { pool: 1000, medianLabels: 69 },
  ].map((size) => exactWorld("yes in 10 %", { odds: [-5, 4], actions: ["no"] }, size)),
  exactWorld("yes in 20 %", { odds: [-3, 3], actions: ["no"] }, { pool: 400 }),
  exactWorld("yes and no", { odds: [-1, 5], actions: ["yes", "no"] }, { pool: 1000 }),
  ...[
    { pool: 600, copies: 2, medianLabels: 85 },
    { pool: 1200, copies: 3, medianLabels: 85 },
  ].map(({ copies, ...size }) =>
    copied(exactWorld("yes in 10 %", { odds: [-5, 4], actions: ["no"], copies }, size)),
  ),
  ...[2, 20, 120].map((copies) =>
    copied(exactWorld("5 % wrong", { odds: [6, 1], truth: () => 0.95, copies }, { pool: 1200 })),
  ),
  exactWorld("overconfident", { odds: [0, 3], printed: extreme(1.5) }, { pool: 600 }),
  exactWorld("5 % wrong", { odds: [6, 1], truth: () => 0.95 }, { pool: 400 }),
  ...[9, 10, 11, 12, 13, 15].map((wrong) =>
    exactWorld(`${wrong} wrong, printed alike`, { odds: [4, 0], wrong }, { pool: 300 }),
  ),
];

function exactWorld(
  name: string,
  about: Partial<PromiseWorld> & Pick<PromiseWorld, "odds">,
  { pool, ...more }: Pick<PromiseWorld, "pool" | "medianLabels">,
): PromiseWorld {
  const actions = ["yes"] as const;
  return { actions, ...about, ...more, name: `exactly ${pool}, ${name}`, pool, isExact: true };
}

const bound = { maxRisk: 0.05, confidence: 0.95 };

/**
 * Labels records of a world for its actions, one label each in turn, and looks after each.
 *
 * @returns The labels up to the first promise, or null, and whether a promise was broken at any look.
 */
function playWorld(
  { pool, odds, printed = (p) => p, truth, isExact = false, wrong, ...world }: PromiseWorld,
  { seed, labels: most }: { readonly seed: number; readonly labels: number },
) {
  const { actions, copies = 1, laterRisk = 0 } = world;
  const random = seededRandom(seed);
  const states = Array.from({ length: pool / copies }, () => drawOdds(odds, random));
  // The draw takes the records in an order of its own.
  const isTrue = states.map((p, i) => {
    const shown = Math.round(100 * printed(p)) / 100;
    return wrong === undefined ? random() < (truth?.(shown) ?? p) : i >= wrong;
  });
  const stateOf = (record: number) => Math.floor(record / copies);
  const records = Array.from({ length: pool }, (_, record) => stateOf(record));
  const shown = records.map((state) => Math.round(100 * printed(states[state] as number)) / 100);
  const isYes = records.map((state) => isTrue[state] as boolean);
  const shared = { seed, shares: actions.length, isExact, copies: records.map(String) };
  const parties = actions.map((action) => ({
    draw: createPromiseDraw(shown, { ...bound, ...shared, action }),
    isWrong: (index: number) => isYes[index] === (action === "no"),
    risks: risksOf(shown, isYes, action),
    riskOfRest: (threshold: number, draw: PromiseDraw) => {
      const least = Math.round(100 * threshold);
      const left = shown.flatMap((p, i) => {
        const at = action === "yes" ? Math.round(100 * p) : 100 - Math.round(100 * p);
        return at >= least && draw.labelOf(i) === undefined ? [isYes[i] === (action === "no")] : [];
      });
      return left.filter(Boolean).length / left.length;
    },
  }));
  const found = { first: null as number | null, isBroken: false };
  for (let labels = 1; labels <= most; labels += 1) {
    const { draw, isWrong, risks, riskOfRest } = parties[
      labels % parties.length
    ] as (typeof parties)[number];
    const index = draw.next();
    if (index === null) continue;
    draw.add(index, isWrong(index));
    const { promised } = draw.state;
    if (promised === null) continue;
    found.first ??= labels;
    const { threshold } = promised;
    const risk = isExact
      ? riskOfRest(threshold, draw)
      : Math.max(laterRisk, risks[Math.round(100 * threshold)] as number);
    found.isBroken ||= risk > bound.maxRisk + 1e-9;
  }
  return found;
}

function drawOdds([mean, spread]: PromiseWorld["odds"], random: () => number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return 1 / (1 + Math.exp(-mean - spread * normal));
}

/** The share of wrong acts in the whole pool at each hundredth and above. */
function risksOf(shown: readonly number[], isYes: readonly boolean[], action: Action): number[] {
  const [rows, wrong] = [new Float64Array(102), new Float64Array(102)];
  for (const [i, p] of shown.entries()) {
    const at = action === "yes" ? Math.round(100 * p) : 100 - Math.round(100 * p);
    rows[at] = (rows[at] as number) + 1;
    if (isYes[i] === (action === "no")) wrong[at] = (wrong[at] as number) + 1;
  }
  const risks: number[] = [];
  for (let at = 100; at >= 0; at -= 1) {
    rows[at] = (rows[at] as number) + (rows[at + 1] as number);
    wrong[at] = (wrong[at] as number) + (wrong[at + 1] as number);
    risks[at] = (wrong[at] as number) / (rows[at] as number);
  }
  return risks;
}

/** Plays rounds of a world; the median takes a round without a promise as endless. */
export function playRounds(world: PromiseWorld, rounds: number, labels = 600) {
  const played = Array.from({ length: rounds }, (_, seed) => playWorld(world, { seed, labels }));
  const firsts = played.map(({ first }) => first ?? Number.POSITIVE_INFINITY);
  return {
    broken: played.filter(({ isBroken }) => isBroken).length / rounds,
    promised: firsts.filter(Number.isFinite).length / rounds,
    median: firsts.toSorted((a, b) => a - b)[Math.floor(rounds / 2)] as number,
  };
}

/** The risk of the acts until the hundredth label and after it. */
interface TurnWorld {
  readonly name: string;
  readonly before: number;
  readonly after: number;
  /** The largest share of the promises that are withdrawn although they hold, or kept although they are broken. */
  readonly limit: number;
}

/** Promises that hold, then those whose risk turns. */
export const turnWorlds: readonly TurnWorld[] = [
  ...[0.01, 0.03, 0.04].map((risk) => {
    const name = `a promise whose risk stays ${risk} is withdrawn`;
    return { name, before: risk, after: risk, limit: 0.05 };
  }),
  ...([[0.33, 0.05] as const, [0.2, 0.1] as const, [0.1, 0.6] as const] as const).map(
    ([after, limit]) => {
      return {
        name: `a promise whose risk turns from 0.01 to ${after} is kept`,
        before: 0.01,
        after,
        limit,
      };
    },
  ),
];

/** Labels 300 of 1,200 records printed 0.98 in each round; returns the share of the promises whose end is the wrong one. */
export function playTurns({ before, after }: TurnWorld, rounds: number): number {
  const printed = Array.from({ length: 1200 }, () => 0.98);
  const ends = Array.from({ length: rounds }, (_, seed) => {
    const random = seededRandom(seed);
    const draw = createPromiseDraw(printed, { ...bound, action: "yes", seed });
    let isPromised = false;
    for (let labels = 1; labels <= 300; labels += 1) {
      draw.add(draw.next() as number, random() < (labels <= 100 ? before : after));
      isPromised ||= draw.state.promised !== null;
    }
    return isPromised ? [(draw.state.withdrawn === null) === after > bound.maxRisk] : [];
  }).flat();
  return ends.filter(Boolean).length / Math.max(1, ends.length);
}
