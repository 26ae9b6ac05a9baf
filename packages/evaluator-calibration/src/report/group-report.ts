import type { LockedThreshold } from "../artifact.ts";
import { weightedMean } from "../math/rows.ts";
import { meanLimit } from "../thresholds/mean-limits.ts";
import { type Rows, rowsByIndex, takeRows } from "./labelled-rows.ts";
import { scoreRows } from "./score-report.ts";

/** Returns the report of each group, the largest first. */
export function reportGroups(
  labelledRows: Rows,
  promisedTo: (groupName: string) => readonly LockedThreshold[],
) {
  const groupNames = labelledRows.joined.join.groups.list;
  return [...rowsByIndex(labelledRows.groupOf)]
    .map(([groupIndex, groupRows]) => {
      const foundGroup = reportGroup(
        groupNames[groupIndex] ?? "(none)",
        takeRows(labelledRows, groupRows),
      );
      /** The thresholds that are promised for this group alone. */
      const promisedThresholds = promisedTo(foundGroup.group);
      return Object.assign(foundGroup, { promised: promisedThresholds });
    })
    .toSorted(
      (firstGroup, secondGroup) =>
        secondGroup.n - firstGroup.n || (firstGroup.group < secondGroup.group ? -1 : 1),
    );
}

function reportGroup(groupName: string, groupRows: Rows) {
  const { p, cameTrue, weights } = groupRows;
  const distances = p.map((probability, rowIndex) => (cameTrue[rowIndex] as number) - probability);
  const limitOptions = { level: 0.025, unseen: 1, weights };
  const { brier, skill } = scoreRows(groupRows);
  return {
    group: groupName,
    n: p.length,
    brier,
    /** Null if every row of the group has one truth. */
    skill: Number.isNaN(skill.value) ? null : skill.value,
    /** The share of true rows minus the mean probability, with its 95 % interval. */
    difference: {
      value: weightedMean(p.length, weights, (rowIndex) => distances[rowIndex] as number),
      low: meanLimit(distances, { ...limitOptions, worst: -1 }),
      high: meanLimit(distances, { ...limitOptions, worst: 1 }),
    },
  };
}
