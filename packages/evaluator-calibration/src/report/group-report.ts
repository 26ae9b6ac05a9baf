import type { LockedThreshold } from "../artifact/artifact.ts";
import { holm } from "../scores/paired-rows.ts";
import { twoSidedP } from "../math/special-functions.ts";
import { type LabelledRows, rowsByGroup, takeRows, truthShares } from "./labelled-rows.ts";
import { brierOf, scoreRows } from "./score-report.ts";

/** One group of rows. */
export interface GroupReport {
  readonly group: string;
  readonly n: number;
  readonly brier: number;
  /** Null where every row of the group has one truth. */
  readonly skill: number | null;
  /** What came true minus the mean probability, with its 95 % interval. */
  readonly difference: { readonly value: number; readonly low: number; readonly high: number };
  /** Adjusted for the number of groups (Holm); null under 30 rows, which are not judged. */
  readonly pValue: number | null;
  /** The thresholds that are promised for this group alone. */
  readonly promised: readonly LockedThreshold[];
}

/** Fewer labelled rows are listed and not judged. Chosen, not measured. */
export const LEAST_JUDGED = 30;

/** Returns what the rows of each group come to, the largest first. */
export function groupsOfRows(
  rows: LabelledRows,
  names: readonly string[],
  promisedTo: (group: string) => readonly LockedThreshold[],
): GroupReport[] {
  const groups = [...rowsByGroup(rows.groupOf)].map(([group, taken]) =>
    groupOf(names[group] ?? "(none)", takeRows(rows, taken)),
  );
  const judged = groups.filter(({ n }) => n >= LEAST_JUDGED);
  const adjusted = holm(judged.map(({ pValue }) => pValue ?? 1));
  return groups
    .map((group) => {
      const at = judged.indexOf(group);
      const pValue = at === -1 ? null : (adjusted[at] ?? null);
      return Object.assign(group, { pValue, promised: promisedTo(group.group) });
    })
    .toSorted((one, other) => other.n - one.n || (one.group < other.group ? -1 : 1));
}

function groupOf(group: string, rows: LabelledRows): Omit<GroupReport, "promised"> {
  const { p, cameTrue, weights } = rows;
  let [total, distance, square, spread] = [0, 0, 0, 0];
  for (let i = 0; i < p.length; i += 1) {
    const weight = weights?.[i] ?? 1;
    const [value, isTrue] = [p[i] as number, cameTrue[i] as number];
    total += weight;
    distance += weight * (isTrue - value);
    square += weight ** 2 * (isTrue - value) ** 2;
    spread += weight ** 2 * value * (1 - value);
  }
  const value = distance / total;
  const half = (1.96 * Math.sqrt(square)) / total;
  const brier = p.reduce((sum, _, i) => sum + (weights?.[i] ?? 1) * brierOf(rows, i), 0) / total;
  const hasOneTruth = truthShares(rows).includes(1);
  return {
    group,
    n: p.length,
    brier,
    skill: hasOneTruth ? null : scoreRows(rows).skill.value,
    difference: { value, low: value - half, high: value + half },
    pValue: spread === 0 ? (distance === 0 ? 1 : 0) : twoSidedP(distance / Math.sqrt(spread)),
  };
}
