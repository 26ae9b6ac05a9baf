import type { LockedThreshold } from "../artifact.ts";
import { type Rows, rowsByIndex, takeRows } from "./labelled-rows.ts";
import { scoreRows } from "./score-report.ts";

/** Returns the report of each group, the largest first. */
export function reportGroups(
  rows: Rows,
  promisedTo: (group: string) => readonly LockedThreshold[],
) {
  const names = rows.joined.join.groups.list;
  return [...rowsByIndex(rows.groupOf)]
    .map(([group, groupRows]) => {
      const foundGroup = reportGroup(names[group] ?? "(none)", takeRows(rows, groupRows));
      /** The thresholds that are promised for this group alone. */
      const promisedThresholds = promisedTo(foundGroup.group);
      return Object.assign(foundGroup, { promised: promisedThresholds });
    })
    .toSorted((one, other) => other.n - one.n || (one.group < other.group ? -1 : 1));
}

function reportGroup(group: string, rows: Rows) {
  const { p, cameTrue, weights } = rows;
  let [total, distance, square] = [0, 0, 0];
  for (let i = 0; i < p.length; i += 1) {
    const weight = weights?.[i] ?? 1;
    const [value, isTrue] = [p[i] as number, cameTrue[i] as number];
    total += weight;
    distance += weight * (isTrue - value);
    square += weight ** 2 * (isTrue - value) ** 2;
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
  };
}
