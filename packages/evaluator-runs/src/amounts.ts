import type { ThresholdCheck } from "evaluator-calibration/statistics";
import { percentRange, printable, printAtLeast, printAtMost } from "evaluator-kit";
import type { StepFacts } from "./run-facts.ts";

// Created at their first use: they take as long to load as Node itself.
let wholeNumbers: Intl.NumberFormat | undefined;
let dollars: Intl.NumberFormat | undefined;
let fractions: Intl.NumberFormat | undefined;
const cents = { style: "currency", currency: "USD", minimumFractionDigits: 2 } as const;

/** Prints a count: `12,345`. */
export function printCount(count: number): string {
  wholeNumbers ??= new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
  return wholeNumbers.format(count);
}

/** Prints a number of things by the name of one: `1 record`, `12,345 records`. */
export function printCounted(count: number, one: string): string {
  return `${printCount(count)} ${count === 1 ? one : `${one}s`}`;
}

/** Prints US dollars: `$1.26`, and below a dollar down to its millionth; null is no known price. */
export function printUsd(usd: number | null): string {
  if (usd === null) return "no known price";
  dollars ??= new Intl.NumberFormat("en-US", { ...cents, maximumFractionDigits: 2 });
  fractions ??= new Intl.NumberFormat("en-US", { ...cents, maximumFractionDigits: 6 });
  return (usd < 1 ? fractions : dollars).format(usd);
}

/** Returns the cost of a run, with what may have been charged for beside its answers. */
export function describeCost(
  run: Readonly<{ costUsd: number | null; uncountedUsd: number }>,
): string {
  const { costUsd, uncountedUsd } = run;
  const lostText =
    uncountedUsd > 0
      ? ` and at most ${printUsd(uncountedUsd)} for calls without a kept answer`
      : "";
  return printUsd(costUsd) + lostText;
}

/** Prints a span of time in its largest fitting unit: `40 s`, `12 min`, `3.4 h`, `5.8 days`. */
export function printDuration(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 99.5) return `${Math.ceil(seconds)} s`;
  if (seconds < 99.5 * 60) return `${Math.ceil(seconds / 60)} min`;
  if (seconds < 99.5 * 3600) return `${(seconds / 3600).toFixed(1)} h`;
  return `${(seconds / 86_400).toFixed(1)} days`;
}

/** Returns a line for each engine of a run: how much it answered, its cost and its failures. */
export function describeSteps(
  steps: readonly (StepFacts & { readonly step?: number })[],
): string[] {
  return steps.map(({ name, records, answers, unsure, costUsd, isUnpriced, ...facts }, at) => {
    const { failed: failedCount, failure, step = at + 1 } = facts;
    const cost = printUsd(isUnpriced ? null : costUsd);
    const failureNote = `; it failed for ${printCounted(failedCount, "record")}, which keep their earlier answers${failure === undefined ? "" : ` (last: ${failure})`}`;
    const rest = unsure > 0 ? ` (${printCount(unsure)} unsure)` : "";
    const counts = `asked about ${printCounted(records, "record")}, gave ${printCounted(answers, "answer")}${rest}`;
    return printable`Step ${String(step)}, ${name}: ${counts}, ${cost}${failedCount > 0 ? failureNote : ""}.`;
  });
}

/** Returns in one sentence how many labelled answers of each engine are wrong; null without a second engine. */
export function describeWrong(
  steps: readonly { readonly step: number; readonly labelled: number; readonly wrong: number }[],
): string | null {
  if (steps.length === 0) return null;
  const byStep = [...Map.groupBy(steps, ({ step }) => step)].toSorted(([one], [two]) => one - two);
  const sums = byStep.map(([step, parts]) => {
    const sum = (count: "labelled" | "wrong") =>
      parts.reduce((total, part) => total + part[count], 0);
    return { step, labelled: sum("labelled"), wrong: sum("wrong") };
  });
  if (sums.every(({ labelled: labelledCount }) => labelledCount === 0))
    return "No answer is labelled, so the wrong ones of each step are unknown.";
  const counts = sums.map(({ step, labelled: labelledCount, wrong }) => {
    return `${printCount(wrong)} of ${printCount(labelledCount)} of step ${step}`;
  });
  return `Wrong answers by the labels: ${counts.join(", ")}.`;
}

/** Returns the promised share of wrong acts, or of exactly some records without a label their number. */
export function describePromisedRisk(
  maxRisk: number,
  {
    unlabelled: unlabelledCount,
    mostWrong,
  }: { readonly unlabelled?: number; readonly mostWrong?: number } = {},
): string {
  if (unlabelledCount === undefined || mostWrong === undefined)
    return `at most ${printAtMost(maxRisk)}`;
  const share = printAtMost(Math.ceil(1000 * (mostWrong / unlabelledCount) - 1e-6) / 1000);
  const records = printCounted(unlabelledCount, "record");
  return `of exactly these ${records} without a label at most ${printCount(mostWrong)} (${share})`;
}

/** Returns the one-sided limit of a tested risk that decides its verdict, or without one the 95 % interval. */
export function describeTestedRisk(
  check: Omit<ThresholdCheck, "locked"> & { readonly confidence: number },
): string {
  const { atMost, atLeast, verdict, confidence } = check;
  const limits = {
    holds: `at most ${printAtMost(Math.ceil(1000 * atMost - 1e-6) / 1000)}`,
    broken: `at least ${printAtLeast(Math.floor(1000 * atLeast + 1e-6) / 1000)}`,
    "not enough labels": null,
    "no fair draw": null,
  };
  const limit = limits[verdict];
  const range =
    limit === null ? percentRange(check) : `${limit}, with ${printAtLeast(confidence)} confidence`;
  return `(${range})`;
}
