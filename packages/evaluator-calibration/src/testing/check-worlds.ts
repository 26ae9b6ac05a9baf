import { binomialDrawer, seededRandom } from "../math/random.ts";
import { checkThresholds, type ThresholdTest } from "../report/check-threshold.ts";

/** A world in which promises are checked; it counts the rounds with a false verdict. */
export interface CheckWorld {
  readonly name: string;
  /** Returns whether a verdict of the round is false. */
  readonly isFalse: (random: () => number) => boolean;
  /** The largest share of rounds with a false verdict. */
  readonly limit: number;
}

const locked = {
  question: "q",
  action: "yes",
  threshold: 0.9,
  maxRisk: 0.05,
  confidence: 0.95,
  n: 100,
  wrong: 1,
} as const;

/** Tests labels of which the last `wrong` are wrong. */
function testOf(p: readonly number[], wrong: number, all: readonly number[] | null = null) {
  const cameTrue = p.map((_, at) => Number(at < p.length - wrong));
  return { locked, rows: { p, cameTrue }, all } satisfies ThresholdTest;
}

/** Draws labels of acts, half of them printed 1 and right, the others printed 0.9 and to a part wrong. */
function drawnActs(
  { isTaken, risk }: { readonly isTaken: (p: number) => boolean; readonly risk: number },
  random: () => number,
) {
  const all = Array.from({ length: 2000 }, () => (random() < 0.5 ? 1 : 0.9));
  const p = all
    .filter(isTaken)
    .slice(0, 120)
    .toSorted((one, other) => other - one);
  const unsure = p.filter((one) => one < 1).length;
  return testOf(p, binomialDrawer(unsure, risk)(random), all);
}

/** Worlds of `check`, `audit` and `drift`: many lines at their limit, and labels of the surest acts alone. */
export const checkWorlds: readonly CheckWorld[] = [
  ...[1, 8].map((lines) => ({
    name: `${lines} promises at their limit are not broken`,
    limit: 0.05,
    isFalse(random: () => number) {
      const drawWrong = binomialDrawer(250, locked.maxRisk);
      const p = Array.from({ length: 250 }, () => 0.95);
      const tests = Array.from({ length: lines }, () => testOf(p, drawWrong(random)));
      return checkThresholds(tests).some(({ verdict }) => verdict === "broken");
    },
  })),
  {
    name: "labels of the surest acts keep no promise that is broken",
    limit: 0.05,
    isFalse: (random) => {
      const test = drawnActs({ isTaken: (p) => p === 1, risk: 0.3 }, random);
      return checkThresholds([test]).some(({ verdict }) => verdict === "holds");
    },
  },
  {
    name: "a fair draw of acts has a verdict",
    limit: 0.01,
    isFalse: (random) => {
      const test = drawnActs({ isTaken: () => true, risk: 0.02 }, random);
      return checkThresholds([test]).some(({ verdict }) => verdict === "no fair draw");
    },
  },
];

/** Returns the share of rounds with a false verdict. */
export function playChecks({ isFalse }: CheckWorld, rounds: number): number {
  const played = Array.from({ length: rounds }, (_, seed) => isFalse(seededRandom(seed + 1)));
  return played.filter(Boolean).length / rounds;
}
