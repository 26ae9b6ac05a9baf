import { hashToShare } from "../math/random.ts";
import { solveIncreasing } from "../math/special-functions.ts";
import { type Rows, takeRows } from "./labelled-rows.ts";

/**
 * Returns one row of each cluster, the same in any order, and all rows without one. A row stands for all records of its
 * cluster: it weighs their number over the chance that one of them was drawn, so that a share of the rows is a
 * share of records (Horvitz and Thompson, 1952).
 *
 * @param isOnePer - Whether a column names the clusters; else only records with equal states are one.
 */
export function onePerCluster(labelledRows: Rows, isOnePer: boolean): Rows {
  const { ids, weights, clusterOf, joined: joinedColumn } = labelledRows;
  const clusters = joinedColumn.join.table.clusters;
  if (!isOnePer && !ids.some((recordId) => clusters?.has(recordId))) return labelledRows;
  const clusterNames = ids.map((recordId, rowIndex) => {
    const namedValue = isOnePer ? (clusterOf[rowIndex] as number) : -1;
    return (
      clusters?.get(recordId) ??
      (namedValue < 0 ? JSON.stringify([recordId]) : `label ${namedValue}`)
    );
  });
  const members = [...Map.groupBy(ids.keys(), (rowIndex) => clusterNames[rowIndex] as string)];
  const toShare = (rowIndex: number) => hashToShare(ids[rowIndex] as string);
  const takenRows = members.map(([, memberRows]) =>
    memberRows.reduce((firstRow, secondRow) =>
      toShare(secondRow) < toShare(firstRow) ? secondRow : firstRow,
    ),
  );
  const weightOfOwn = (memberRows: readonly number[]) =>
    memberRows.reduce((runningSum, rowIndex) => runningSum + (weights?.[rowIndex] ?? 1), 0);
  // The sum of the weights of a cluster's labels estimates its size if the answers do not name it.
  const isSized =
    weights === undefined && (!isOnePer || ids.every((recordId) => clusters?.has(recordId)));
  const clusterSizes = isSized ? mapSizes(labelledRows) : null;
  const chanceOf =
    clusterSizes === null ? null : listChances([...clusterSizes.values()], members.length);
  const weightByRow = new Map(
    members.map(([clusterName, memberRows], clusterIndex) => {
      const clusterSize = clusterSizes?.get(clusterName) ?? 1;
      return [
        takenRows[clusterIndex],
        chanceOf === null ? weightOfOwn(memberRows) : clusterSize / chanceOf(clusterSize),
      ];
    }),
  );
  return takeRows(labelledRows, takenRows, (rowIndex) => weightByRow.get(rowIndex) as number);
}

/** Returns how many records each cluster has. */
function mapSizes({ joined: { column, join } }: Rows): Map<string, number> {
  const clusterSizes = new Map<string, number>();
  for (const recordId of column.ids) {
    const clusterName = join.table.clusters?.get(recordId) ?? JSON.stringify([recordId]);
    clusterSizes.set(clusterName, (clusterSizes.get(clusterName) ?? 0) + 1);
  }
  return clusterSizes;
}

/**
 * Returns the chance of a cluster by its size if records are drawn at random until so many clusters are seen. It holds
 * for labels of random records, and for a draw that passes over further records of a cluster.
 */
function listChances(
  clusterSizes: readonly number[],
  seenCount: number,
): (clusterSize: number) => number {
  const sizeGroups = [...Map.groupBy(clusterSizes, (clusterSize) => clusterSize)];
  const seenCountAt = (drawnShare: number) =>
    sizeGroups.reduce(
      (runningSum, [clusterSize, { length }]) =>
        runningSum + length * chanceAt(drawnShare, clusterSize),
      0,
    );
  const drawnShare =
    seenCount >= clusterSizes.length ? 1 : solveIncreasing(seenCountAt, seenCount, [0, 1]);
  return (clusterSize) => chanceAt(drawnShare, clusterSize);
}

/** The chance that a cluster of a size is seen if a share of all records is drawn. */
function chanceAt(drawnShare: number, clusterSize: number): number {
  return 1 - (1 - drawnShare) ** clusterSize;
}
