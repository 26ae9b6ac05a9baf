import { gainOf, toGaps } from "../labels/figures.ts";
import { cheapestOf, gapOf, type LabelledPrompt } from "../labels/tier-points.ts";
import { describeRouting, doubtOf, findDoubt } from "../labels/verdict.ts";
import { featuresOf, heldOutGains } from "./held-out.ts";
import { findPromise, type PromiseOptions } from "./promise.ts";
import { fitRidge } from "./ridge.ts";

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
  const [sure, kept] = [confidence, keepQuality].map((share) => Number((100 * share).toFixed(2)));
  const sentence = `${describeRouting(found.threshold, found.saving, found.quality)}; ${sure} % sure that it keeps ${kept} % of frontier's, for prompts like these.`;
  const promise = { saving: found.saving, quality: keepQuality, confidence };
  const { intercept, weights } = fitRidge(featuresOf(labels), labels.map(gapOf));
  const fit = {
    promise,
    cheapest: cheapestOf(labels),
    threshold: found.threshold,
    intercept,
    weights: Array.from(weights, (weight) => Number(weight.toPrecision(6))),
    needsEvaluation: labels.every(({ probabilities }) => probabilities !== null),
    labels: labels.length,
  };
  return { ...nothing, verdict: "route" as const, sentence, promise, fit };
}
