import { seededRandom } from "evaluator-kit";
import { gapOf, type LabelledPrompt, meanOf } from "../labels/tier-points.ts";
import { type Features, toFeatures } from "./features.ts";
import { fitRidge, predict, type Weights } from "./ridge.ts";

const FOLDS = 5;

/** Returns the features of labels; the probabilities count only if all labels have them. */
export function featuresOf(labels: readonly LabelledPrompt[]): Features[] {
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
  const fits = Array.from({ length: FOLDS }, (_, fold): Weights => {
    const isKept = (_: unknown, at: number) => folds[at] !== fold;
    return { ...fitRidge(rows.filter(isKept), gaps.filter(isKept)), intercept };
  });
  return rows.map((row, at) => predict(fits[folds[at] ?? 0] as Weights, row));
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
