import type { LockedThreshold } from "../artifact.ts";
import { weightedMean } from "../math/rows.ts";
import { meanLimit } from "../thresholds/mean-limits.ts";
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
  const distances = p.map((value, row) => (cameTrue[row] as number) - value);
  const limit = { level: 0.025, unseen: 1, weights };
  const { brier, skill } = scoreRows(rows);
  return {
    group,
    n: p.length,
    brier,
    /** Null if every row of the group has one truth. */
    skill: Number.isNaN(skill.value) ? null : skill.value,
    /** The share of true rows minus the mean probability, with its 95 % interval. */
    difference: {
      value: weightedMean(p.length, weights, (row) => distances[row] as number),
      low: meanLimit(distances, { ...limit, worst: -1 }),
      high: meanLimit(distances, { ...limit, worst: 1 }),
    },
  };
}
