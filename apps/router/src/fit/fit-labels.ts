import { printAtLeast, seededRandom } from "evaluator-kit";
import { estimate, gainOf, toGaps } from "../labels/figures.ts";
import { gapOf, type LabelledPrompt, meanOf } from "../labels/tier-points.ts";
import { describeRouting, doubtOf, findDoubt, highestShare, pOfMean } from "../labels/verdict.ts";
import { fitRidge, predict } from "./ridge.ts";
import { type Features, toFeatures } from "./features.ts";

/** Fits labels, and tests the fit on labels that it did not see. Equal prompts count once. */
export function fitLabels(
  all: readonly LabelledPrompt[],
  { seed, ...options }: PromiseOptions & { readonly seed: number },
) {
  const labels = all.filter(({ isRepeat }) => !isRepeat);
  const gains = heldOutGains(labels, seed);
  const lengths = labels.flatMap(({ length }) => length ?? []);
  const apgrOf = (values: readonly number[]) => gainOf(toGaps(labels, values)).apgr;
  const length = lengths.length === labels.length ? apgrOf(lengths) : null;
  const nothing = { promise: null, heldOut: { apgr: apgrOf(gains), length }, fit: null };
  const doubt = findDoubt(labels, gains, { seed, draws: 300 });
  if (doubt !== null) return { ...doubt, ...nothing };
  const found = findPromise(labels, gains, options);
  if (found === null || found.saving === 0) {
    const none = { value: 0, low: 0, high: 0, name: "the promised saving", chance: 0 };
    return { ...doubtOf(labels.length, none), ...nothing };
  }
  const { keepQuality, confidence } = options;
  const [sure, kept] = [confidence, keepQuality].map(printAtLeast);
  const sentence = `${describeRouting(found.threshold, found.saving, found.quality)}; ${sure} sure that it keeps ${kept} of frontier's, for prompts like these.`;
  const promise = { saving: found.saving, quality: keepQuality, confidence };
  const { intercept, weights } = fitRidge(featuresOf(labels), labels.map(gapOf));
  const fit = {
    promise,
    cheapest: labels[0]?.cheapest ?? "nano",
    threshold: found.threshold,
    intercept,
    weights: Array.from(weights, (weight) => Number(weight.toPrecision(6))),
    needsEvaluation: labels.every(({ probabilities }) => probabilities !== null),
    labels: labels.length,
  };
  return { ...nothing, verdict: "route" as const, sentence, promise, fit };
}

const FOLDS = 5;

/** Returns the features of labels; the probabilities count only if all labels have them. */
function featuresOf(labels: readonly LabelledPrompt[]): Features[] {
  const hasAll = labels.every(({ probabilities }) => probabilities !== null);
  return labels.map(({ text, probabilities }) => toFeatures(text, hasAll ? probabilities : null));
}

/**
 * Returns for each label the gain that a fit without it predicts. Equal texts are in one fold. The
 * intercept is the mean of all: one for each fold would order the folds, not the prompts.
 */
export function heldOutGains(labels: readonly LabelledPrompt[], seed: number): number[] {
  const rows = featuresOf(labels);
  const gaps = labels.map(gapOf);
  const intercept = meanOf(gaps);
  const folds = foldsOf(labels, seed);
  const fits = Array.from({ length: FOLDS }, (_, fold) => {
    const isKept = (_: unknown, at: number) => folds[at] !== fold;
    return { ...fitRidge(rows.filter(isKept), gaps.filter(isKept)), intercept };
  });
  return rows.map((row, at) => predict(fits[folds[at] ?? 0] as (typeof fits)[number], row));
}

function foldsOf(labels: readonly LabelledPrompt[], seed: number): number[] {
  const random = seededRandom(seed);
  const foldOf = new Map<string, number>();
  return labels.map(({ text }) => {
    const fold = foldOf.get(text) ?? Math.floor(random() * FOLDS);
    if (text !== "") foldOf.set(text, fold); // texts of the decision log are unknown
    return fold;
  });
}

/** A promise: the kept share of the dear tier's quality, and the confidence in quality and saving. */
interface PromiseOptions {
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
    const rows = routedAt(threshold);
    const kept = rows.map(({ used, dear }) => used.quality - keepQuality * dear.quality);
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
