import {
  type Estimate,
  LEAST_ORDER_P_VALUE,
  type QuestionReport,
} from "evaluator-calibration/reports";
import { percent, percentRange, printDown, printPValue, printRange } from "evaluator-kit";
import { printCounted } from "evaluator-runs/source";

/** Returns how far labelers agree, in one line, and of enough records which share of their labels an engine can fit. */
export function describeAgreement({ agreement }: QuestionReport): string[] {
  if (agreement === null) return [];
  const { n, labelers, disagree, alpha, farthest, ceiling } = agreement;
  const labelersText = labelers === 2 ? "two labelers" : `any two of ${labelers} labelers`;
  const alphaNote = alpha === null ? "" : ` (Krippendorff's alpha ${withRange(alpha)})`;
  const disagreement = `${labelersText} disagree on ${percent(disagree)} of ${printCounted(n, "record")}${alphaNote}`;
  const ceilingText = `no engine can be right in more than about ${percent(ceiling)} of single labels like theirs`;
  return [
    farthest === null ? disagreement : `${disagreement}; ${describeFarthest(farthest)}`,
    ...(alpha === null || disagree === 0
      ? []
      : [`${ceilingText}: if two labels differ, an answer fits at most one`]),
  ];
}

function describeFarthest({
  name,
  n,
  differs,
  isByChance,
}: NonNullable<NonNullable<QuestionReport["agreement"]>["farthest"]>): string {
  const differenceText = `${percent(differs)}, ${percentRange(differs)}, on ${printCounted(n, "record")}`;
  const chanceNote = isByChance ? "; that can be chance" : "";
  return `${nameLabeler(name)} is farthest from the rest (${differenceText}${chanceNote})`;
}

/** Returns a labeler's name. */
export function nameLabeler(name: string): string {
  return name === "" ? "an unnamed labeler" : name;
}

/** Returns an estimate with two decimals, and its interval and the p-value of its order if it has them. */
export function withRange({ value, low, high }: Estimate, pValue: number | null = null): string {
  const rangeText = Number.isNaN(low) ? "" : `, ${printRange({ low, high })}`;
  return (
    printDown(value) +
    rangeText +
    (pValue === null ? "" : `, ${printPValue(pValue, LEAST_ORDER_P_VALUE)}`)
  );
}
