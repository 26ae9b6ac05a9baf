import type { Estimate, Interval } from "evaluator-calibration";

/** Draws of prompts with replacement, shared by all figures. */
export type Draws = ReturnType<typeof createDraws>;

/** Draws `n` prompts; the same seed gives the same draws. */
export function createDraws(n: number, { seed, draws }: { seed: number; draws: number }) {
  const random = seeded(seed);
  const all = Array.from({ length: draws }, () => {
    const counts = Array.from({ length: n }, () => 0);
    for (let drawn = 0; drawn < n; drawn += 1) {
      const at = Math.floor(random() * n);
      counts[at] = (counts[at] ?? 0) + 1;
    }
    return counts;
  });
  const meanOf = (values: readonly number[], counts?: readonly number[]) =>
    values.reduce((sum, value, at) => sum + value * (counts?.[at] ?? 1), 0) / n;
  return {
    /** Calls back once per draw, with the count of each prompt. */
    each: <TResult>(of: (counts: readonly number[]) => TResult) => all.map(of),
    /** Returns the mean of one value per prompt. */
    mean: (values: readonly number[]) =>
      estimate(
        meanOf(values),
        all.map((counts) => meanOf(values, counts)),
      ),
  };
}

/** Returns a figure with the middle 95 % of its draws. */
export function estimate(value: number, drawn: readonly number[]): Estimate {
  const sorted = drawn.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? value;
  return { value, low: at(0.025), high: at(0.975) };
}

/** Generates random orders of values, in one array. */
export function* shuffles(
  values: readonly number[],
  { seed, orders }: { seed: number; orders: number },
): Generator<number[]> {
  const random = seeded(seed);
  const shuffled = [...values];
  for (let order = 0; order < orders; order += 1) {
    for (let at = shuffled.length - 1; at > 0; at -= 1) {
      const other = Math.floor(random() * (at + 1));
      [shuffled[at], shuffled[other]] = [shuffled[other] ?? 0, shuffled[at] ?? 0];
    }
    yield shuffled;
  }
}

/** The generator mulberry32. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns a share in percent, with its interval. */
export function percent({ share, low, high }: Interval & { readonly share: number }): string {
  return `${whole(share)} (${whole(low)} to ${whole(high)})`;
}

/** Returns a difference of two qualities in hundredths, with its interval. */
export function points({ value, low, high }: Estimate): string {
  const [at, from, to] = [value, low, high].map((quality) => Math.round(1000 * quality) / 10 + 0); // no -0
  return `${at} points (${from} to ${to})`;
}

function whole(share: number): string {
  return `${(100 * share).toFixed(1)}%`;
}

/** Returns a figure of three digits with its interval; a dash for null. */
export function figure(estimate: Estimate | null): string {
  if (estimate === null) return "–";
  return `${three(estimate.value)} (${three(estimate.low)} to ${three(estimate.high)})`;
}

function three(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}
