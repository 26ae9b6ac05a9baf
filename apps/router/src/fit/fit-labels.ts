import { printAtLeast, seededRandom } from "evaluator-kit";
import { estimate, toGain, toGaps } from "../labels/figures.ts";
import { computeGap, type LabelledPrompt, computeMean } from "../labels/tier-points.ts";
import { describeRouting, toDoubt, findDoubt, highestShare, pOfMean } from "../labels/verdict.ts";
import { fitRidge, predict } from "./ridge.ts";
import { type Features, toFeatures } from "./features.ts";

/** Fits labels, and tests the fit on labels that it did not see. Equal prompts count once. */
export function fitLabels(
  allPrompts: readonly LabelledPrompt[],
  { seed, ...options }: PromiseOptions & { readonly seed: number },
) {
  const labels = allPrompts.filter(({ isRepeat }) => !isRepeat);
  const labelGains = heldOutGains(labels, seed);
  const promptLengths = labels.flatMap(({ length }) => length ?? []);
  const toApgr = (orderValues: readonly number[]) => toGain(toGaps(labels, orderValues)).apgr;
  const length = promptLengths.length === labels.length ? toApgr(promptLengths) : null;
  const noPromise = { promise: null, heldOut: { apgr: toApgr(labelGains), length }, fit: null };
  const foundDoubt = findDoubt(labels, labelGains, { seed, draws: 300 });
  if (foundDoubt !== null) return { ...foundDoubt, ...noPromise };
  const foundPromise = findPromise(labels, labelGains, options);
  if (foundPromise === null || foundPromise.saving === 0) {
    const noSaving = { value: 0, low: 0, high: 0, name: "the promised saving", chance: 0 };
    return { ...toDoubt(labels.length, noSaving), ...noPromise };
  }
  const { keepQuality, confidence } = options;
  const [surePercent, keptShare] = [confidence, keepQuality].map(printAtLeast);
  const sentence = `${describeRouting(foundPromise.threshold, foundPromise.saving, foundPromise.quality)}; ${surePercent} sure that it keeps ${keptShare} of frontier's, for prompts like these.`;
  const promise = { saving: foundPromise.saving, quality: keepQuality, confidence };
  const { intercept, weights } = fitRidge(listFeatures(labels), labels.map(computeGap));
  const fit = {
    promise,
    cheapest: labels[0]?.cheapest ?? "nano",
    threshold: foundPromise.threshold,
    intercept,
    weights: Array.from(weights, (weight) => Number(weight.toPrecision(6))),
    needsEvaluation: labels.every(({ probabilities }) => probabilities !== null),
    labels: labels.length,
  };
  return { ...noPromise, verdict: "route" as const, sentence, promise, fit };
}

const FOLDS = 5;

/** Returns the features of labels; the probabilities count only if all labels have them. */
function listFeatures(labels: readonly LabelledPrompt[]): Features[] {
  const hasAll = labels.every(({ probabilities }) => probabilities !== null);
  return labels.map(({ text, probabilities }) => toFeatures(text, hasAll ? probabilities : null));
}

/**
 * Returns for each label the gain that a fit without it predicts. Equal texts are in one fold. The
 * intercept is the mean of all: one for each fold would order the folds, not the prompts.
 */
export function heldOutGains(labels: readonly LabelledPrompt[], seed: number): number[] {
  const featureRows = listFeatures(labels);
  const qualityGaps = labels.map(computeGap);
  const intercept = computeMean(qualityGaps);
  const folds = computeFolds(labels, seed);
  const fits = Array.from({ length: FOLDS }, (_, foldNumber) => {
    const isKept = (_: unknown, promptIndex: number) => folds[promptIndex] !== foldNumber;
    return { ...fitRidge(featureRows.filter(isKept), qualityGaps.filter(isKept)), intercept };
  });
  return featureRows.map((row, at) => predict(fits[folds[at] ?? 0] as (typeof fits)[number], row));
}

function computeFolds(labels: readonly LabelledPrompt[], seed: number): number[] {
  const nextRandom = seededRandom(seed);
  const foldByText = new Map<string, number>();
  return labels.map(({ text }) => {
    const textFold = foldByText.get(text) ?? Math.floor(nextRandom() * FOLDS);
    if (text !== "") foldByText.set(text, textFold); // texts of the decision log are unknown
    return textFold;
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
  const tailLevel = (1 - confidence) / 2;
  const routePrompts = (threshold: number) =>
    prompts.map(({ cheap, dear }, promptIndex) => {
      return { dear, used: (gains[promptIndex] ?? 0) >= threshold ? dear : cheap };
    });
  const thresholds = computeThresholds(gains);
  const firstFailure = thresholds.findIndex((threshold) => {
    const rows = routePrompts(threshold);
    const keptValues = rows.map(({ used, dear }) => used.quality - keepQuality * dear.quality);
    return pOfMean(keptValues, -keepQuality) > tailLevel;
  });
  const threshold = thresholds.at(firstFailure === -1 ? -1 : firstFailure - 1);
  if (threshold === undefined || firstFailure === 0) return null;
  const routedPoints = routePrompts(threshold);
  const mostUsd = Math.max(...routedPoints.map(({ dear }) => dear.cost));
  const saving = highestShare((share) => {
    const savedValues = routedPoints.map(({ used, dear }) => (1 - share) * dear.cost - used.cost);
    return pOfMean(savedValues, -share * mostUsd) <= tailLevel;
  });
  const qualityChanges = routedPoints.map(({ used, dear }) => used.quality - dear.quality);
  const drawOptions = { seed: 1, draws: 300 };
  const { quality } = estimate(qualityChanges, drawOptions, (sampleChanges) => ({
    quality: computeMean(sampleChanges),
  }));
  return { threshold, saving, quality };
}

function computeThresholds(gains: readonly number[]): number[] {
  const sortedValues = gains.toSorted((firstGain, secondGain) => firstGain - secondGain);
  const valueAt = (testIndex: number) =>
    sortedValues[Math.floor((testIndex * sortedValues.length) / TESTS)] ?? Infinity;
  return [...new Set(Array.from({ length: TESTS + 1 }, (_, testIndex) => valueAt(testIndex)))];
}
