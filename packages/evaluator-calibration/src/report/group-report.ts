import type { LockedThreshold } from "../artifact.ts";
import { holm, twoSidedP } from "../math/special-functions.ts";
import { type Rows, rowsByIndex, takeRows } from "./labelled-rows.ts";
import { scoreRows } from "./score-report.ts";

/** Fewer labelled rows are listed and not judged. Chosen, not measured. */
export const LEAST_JUDGED = 30;

/** Returns the report of each group, the largest first; under 30 rows without a p value. */
export function reportGroups(
  rows: Rows,
  promisedTo: (group: string) => readonly LockedThreshold[],
) {
  const names = rows.joined.join.groups.list;
  const groups = [...rowsByIndex(rows.groupOf)].map(([group, taken]) =>
    reportGroup(names[group] ?? "(none)", takeRows(rows, taken)),
  );
  const judged = groups.filter(({ n }) => n >= LEAST_JUDGED);
  const adjusted = holm(judged.map(({ pValue }) => pValue));
  return groups
    .map((group) => {
      const pValue = adjusted[judged.indexOf(group)] ?? null;
      /** The thresholds that are promised for this group alone. */
      const promised = promisedTo(group.group);
      return Object.assign(group, { pValue, promised });
    })
    .toSorted((one, other) => other.n - one.n || (one.group < other.group ? -1 : 1));
}

function reportGroup(group: string, rows: Rows) {
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
  const { brier, skill } = scoreRows(rows);
  return {
    group,
    n: p.length,
    brier,
    /** Null if every row of the group has one truth. */
    skill: Number.isNaN(skill.value) ? null : skill.value,
    /** The share of true rows minus the mean probability, with its 95 % interval. */
    difference: { value, low: value - half, high: value + half },
    pValue: spread === 0 ? (distance === 0 ? 1 : 0) : twoSidedP(distance / Math.sqrt(spread)),
  };
}
