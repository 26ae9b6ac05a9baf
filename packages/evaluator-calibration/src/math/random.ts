import { binomialProbability } from "./special-functions.ts";

/** Returns the next number, at least 0 and below 1. */
type Random = () => number;

/** The default seed: every figure of a report can be reproduced. */
export const DEFAULT_SEED = 20_260_101;

/** Returns a generator (sfc32) that gives the same numbers for the same seed. */
export function seededRandom(seed: number): Random {
  // A typed array, because numbers that a closure changes are boxed, which takes three times as long.
  const state = Int32Array.of(seed, seed / 2 ** 32, 0x9e3779b9, 1);
  for (let i = 0; i < 12; i += 1) findNext(state); // close seeds begin alike
  return () => findNext(state);
}

function findNext(state: Int32Array): number {
  const b = state[1] as number;
  const c = state[2] as number;
  const counter = state[3] as number;
  const sum = ((((state[0] as number) + b) | 0) + counter) | 0;
  state[0] = b ^ (b >>> 9);
  state[1] = c + (c << 3);
  state[2] = ((c << 21) | (c >>> 11)) + sum;
  state[3] = counter + 1;
  return (sum >>> 0) / 2 ** 32;
}

/** Returns a hash of a text from 0 to below 1, so a row's part does not depend on its position. */
export function hashToShare(text: string, seed = DEFAULT_SEED): number {
  let hash = 0x811c9dc5 ^ seed;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  // The last steps of MurmurHash3: FNV alone leaves the high bits of short texts alike.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** Returns a short name of a text: equal texts have one name, and others by chance in 1 of 2 ** 64 pairs. */
export function textHash(text: string): string {
  return `${text.length} ${hashToShare(text)} ${hashToShare(text, 1)}`;
}

/** Returns the hash of a record's state. */
export function stateHash(state: unknown): string {
  return textHash(JSON.stringify(state));
}

/** Shuffles in place and returns the same list. */
export function shuffle<TItem>(items: TItem[], random: Random): TItem[] {
  for (let i = items.length - 1; i > 0; i -= 1) {
    const other = Math.floor(random() * (i + 1));
    [items[i], items[other]] = [items[other] as TItem, items[i] as TItem];
  }
  return items;
}

/** Returns a function that draws binomial counts; values that depend only on n and p are computed once. */
export function binomialDrawer(n: number, p: number): (random: Random) => number {
  if (p > 0.5) {
    const drawOthers = binomialDrawer(n, 1 - p);
    return (random) => n - drawOthers(random);
  }
  if (n === 0 || p === 0) return () => 0;
  const mode = Math.floor((n + 1) * p);
  const odds = p / (1 - p);
  return drawerFromMode(mode, [0, n], {
    pOfMode: binomialProbability(mode, n, p),
    up: (k) => ((n - k) / (k + 1)) * odds,
  });
}

/** Returns how many of `draws` without replacement are of the first kind. */
export function drawHypergeometric(
  { first, second, draws }: { first: number; second: number; draws: number },
  random: Random,
): number {
  const range = [Math.max(0, draws - second), Math.min(first, draws)] as const;
  if (range[0] === range[1]) return range[0];
  const mode = Math.floor(((draws + 1) * (first + 1)) / (first + second + 2));
  const p = draws / (first + second);
  const draw = drawerFromMode(mode, range, {
    pOfMode:
      (binomialProbability(mode, first, p) * binomialProbability(draws - mode, second, p)) /
      binomialProbability(draws, first + second, p),
    up: (k) => ((first - k) / (k + 1)) * ((draws - k) / (second - draws + k + 1)),
  });
  return draw(random);
}

interface Distribution {
  readonly pOfMode: number;
  /** The probability of k + 1 divided by that of k. */
  readonly up: (k: number) => number;
}

// Inversion from the mode, the most probable value: it takes about one standard deviation of steps.
function drawerFromMode(
  mode: number,
  [low, high]: readonly [number, number],
  { pOfMode, up }: Distribution,
): (random: Random) => number {
  return (random) => {
    let remainingCount = random() - pOfMode;
    let below = mode;
    let above = mode;
    let pBelow = pOfMode;
    let pAbove = pOfMode;
    while (remainingCount > 0 && (below > low || above < high)) {
      if (above < high) {
        pAbove *= up(above);
        above += 1;
        remainingCount -= pAbove;
        if (remainingCount <= 0) return above;
      }
      if (below > low) {
        pBelow /= up(below - 1);
        below -= 1;
        remainingCount -= pBelow;
        if (remainingCount <= 0) return below;
      }
    }
    return mode;
  };
}
