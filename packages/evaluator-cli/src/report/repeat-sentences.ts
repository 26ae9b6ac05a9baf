import { shellWord } from "evaluator-kit";
import { printCounted } from "evaluator-runs/source";

interface Origin {
  readonly labels: number;
  readonly n: number;
}

/** Returns how many groups or values some labels are from. */
export function describeOrigin({ labels, n }: Origin, unitName: "group" | "value"): string {
  return `${printCounted(labels, "label")} come from ${printCounted(n, unitName)}`;
}

/** Returns that labels are from few values of a column, and the option that takes one label of each. */
export function describeRepeat(
  { column, ...origin }: Origin & { readonly column: string },
  option: string,
): string {
  const consequence = `labels of one may not be independent (${option} ${shellWord(column)})`;
  return `${describeOrigin(origin, "value")} of "${column}"; ${consequence}`;
}
