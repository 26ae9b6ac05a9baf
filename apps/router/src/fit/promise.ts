import { estimate } from "../labels/figures.ts";
import { highestShare, pOfMean } from "../labels/mean-test.ts";
import { type LabelledPrompt, meanOf } from "../labels/tier-points.ts";

/** A promise: the kept share of the dear tier's quality, and the confidence in quality and saving. */
export interface PromiseOptions {
  readonly keepQuality: number;
  readonly confidence: number;
}

/** Thresholds that are tested, at equal shares of the prompts. */
const TESTS = 50;

/**
 * Returns the threshold with the highest promised saving (learn then test), or null. Prompts with at
 * least this gain use the dear tier. The tests have a fixed order: from all prompts for the dear tier
 * downwards, up to the first failure. Quality and saving have half of the error each.
 */
export function findPromise(
  prompts: readonly Pick<LabelledPrompt, "cheap" | "dear">[],
  gains: readonly number[],
  { keepQuality, confidence }: PromiseOptions,
) {
  const level = (1 - confidence) / 2;
  const routedAt = (threshold: number) =>
    prompts.map(({ cheap, dear }, at) => {
      return { dear, used: (gains[at] ?? 0) >= threshold ? dear : cheap };
    });
  const thresholds = thresholdsOf(gains);
  const failed = thresholds.findIndex((threshold) => {
    const kept = routedAt(threshold).map(
      ({ used, dear }) => used.quality - keepQuality * dear.quality,
    );
    return pOfMean(kept, -keepQuality) > level;
  });
  const threshold = thresholds.at(failed === -1 ? -1 : failed - 1);
  if (threshold === undefined || failed === 0) return null;
  const routed = routedAt(threshold);
  const mostUsd = Math.max(...routed.map(({ dear }) => dear.cost));
  const saving = highestShare((share) => {
    const saved = routed.map(({ used, dear }) => (1 - share) * dear.cost - used.cost);
    return pOfMean(saved, -share * mostUsd) <= level;
  });
  const changes = routed.map(({ used, dear }) => used.quality - dear.quality);
  const draws = { seed: 1, draws: 300 };
  const { quality } = estimate(changes, draws, (drawn) => ({ quality: meanOf(drawn) }));
  return { threshold, saving, quality };
}

function thresholdsOf(gains: readonly number[]): number[] {
  const sorted = gains.toSorted((one, other) => one - other);
  const at = (test: number) => sorted[Math.floor((test * sorted.length) / TESTS)] ?? Infinity;
  return [...new Set(Array.from({ length: TESTS + 1 }, (_, test) => at(test)))];
}
