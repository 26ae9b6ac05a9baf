import { binomialProbability } from "./special-functions.ts";

/** Returns the next number, at least 0 and below 1. */
type Random = () => number;

/** The default seed: every figure of a report can be reproduced. */
export const DEFAULT_SEED = 20_260_101;

/** Returns a generator (sfc32) that gives the same numbers for the same seed. */
export function seededRandom(seed: number): Random {
  // A typed array, because numbers that a closure changes are boxed, which takes three times as long.
  const words = Int32Array.of(seed, seed / 2 ** 32, 0x9e3779b9, 1);
  for (let round = 0; round < 12; round += 1) findNext(words); // close seeds begin alike
  return () => findNext(words);
}

function findNext(words: Int32Array): number {
  const b = words[1] as number;
  const c = words[2] as number;
  const counter = words[3] as number;
  const nextWord = ((((words[0] as number) + b) | 0) + counter) | 0;
  words[0] = b ^ (b >>> 9);
  words[1] = c + (c << 3);
  words[2] = ((c << 21) | (c >>> 11)) + nextWord;
  words[3] = counter + 1;
  return (nextWord >>> 0) / 2 ** 32;
}

/** Returns a hash of a text from 0 to below 1, so a row's part does not depend on its position. */
export function hashToShare(hashedText: string, seed = DEFAULT_SEED): number {
  let hashValue = 0x811c9dc5 ^ seed;
  for (let position = 0; position < hashedText.length; position += 1)
    hashValue = Math.imul(hashValue ^ hashedText.charCodeAt(position), 0x01000193);
  // The last steps of MurmurHash3: FNV alone leaves the high bits of short texts alike.
  hashValue = Math.imul(hashValue ^ (hashValue >>> 16), 0x85ebca6b);
  hashValue = Math.imul(hashValue ^ (hashValue >>> 13), 0xc2b2ae35);
  return ((hashValue ^ (hashValue >>> 16)) >>> 0) / 2 ** 32;
}

/** Returns a short name of a text: equal texts have one name, and others by chance in 1 of 2 ** 64 pairs. */
export function textHash(hashedText: string): string {
  return `${hashedText.length} ${hashToShare(hashedText)} ${hashToShare(hashedText, 1)}`;
}

/** Returns the hash of a record's state. */
export function stateHash(state: unknown): string {
  return textHash(JSON.stringify(state));
}

/** Shuffles in place and returns the same list. */
export function shuffle<TItem>(items: TItem[], nextRandom: Random): TItem[] {
  for (let position = items.length - 1; position > 0; position -= 1) {
    const otherPosition = Math.floor(nextRandom() * (position + 1));
    [items[position], items[otherPosition]] = [
      items[otherPosition] as TItem,
      items[position] as TItem,
    ];
  }
  return items;
}

/** Returns a function that draws binomial counts; values that depend only on n and p are computed once. */
export function binomialDrawer(n: number, p: number): (random: Random) => number {
  if (p > 0.5) {
    const drawOthers = binomialDrawer(n, 1 - p);
    return (nextRandom) => n - drawOthers(nextRandom);
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
  nextRandom: Random,
): number {
  const drawRange = [Math.max(0, draws - second), Math.min(first, draws)] as const;
  if (drawRange[0] === drawRange[1]) return drawRange[0];
  const mode = Math.floor(((draws + 1) * (first + 1)) / (first + second + 2));
  const p = draws / (first + second);
  const drawCount = drawerFromMode(mode, drawRange, {
    pOfMode:
      (binomialProbability(mode, first, p) * binomialProbability(draws - mode, second, p)) /
      binomialProbability(draws, first + second, p),
    up: (k) => ((first - k) / (k + 1)) * ((draws - k) / (second - draws + k + 1)),
  });
  return drawCount(nextRandom);
}

interface Distribution {
  readonly pOfMode: number;
  /** The probability of k + 1 divided by that of k. */
  readonly up: (k: number) => number;
}

// Inversion from the mode, the most probable value: it takes about one standard deviation of steps.
function drawerFromMode(
  mode: number,
  [lowest, highest]: readonly [number, number],
  { pOfMode, up }: Distribution,
): (nextRandom: Random) => number {
  return (nextRandom) => {
    let remainingCount = nextRandom() - pOfMode;
    let below = mode;
    let above = mode;
    let pBelow = pOfMode;
    let pAbove = pOfMode;
    while (remainingCount > 0 && (below > lowest || above < highest)) {
      if (above < highest) {
        pAbove *= up(above);
        above += 1;
        remainingCount -= pAbove;
        if (remainingCount <= 0) return above;
      }
      if (below > lowest) {
        pBelow /= up(below - 1);
        below -= 1;
        remainingCount -= pBelow;
        if (remainingCount <= 0) return below;
      }
    }
    return mode;
  };
}
