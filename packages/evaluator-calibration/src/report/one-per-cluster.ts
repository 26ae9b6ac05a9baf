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
export function onePerCluster(rows: Rows, isOnePer: boolean): Rows {
  const { ids, weights, clusterOf, joined: joinedColumn } = rows;
  const clusters = joinedColumn.join.table.clusters;
  if (!isOnePer && !ids.some((id) => clusters?.has(id))) return rows;
  const names = ids.map((id, row) => {
    const namedValue = isOnePer ? (clusterOf[row] as number) : -1;
    return clusters?.get(id) ?? (namedValue < 0 ? JSON.stringify([id]) : `label ${namedValue}`);
  });
  const members = [...Map.groupBy(ids.keys(), (row) => names[row] as string)];
  const toShare = (row: number) => hashToShare(ids[row] as string);
  const takenRows = members.map(([, own]) =>
    own.reduce((one, other) => (toShare(other) < toShare(one) ? other : one)),
  );
  const weightOfOwn = (own: readonly number[]) =>
    own.reduce((sum, row) => sum + (weights?.[row] ?? 1), 0);
  // The sum of the weights of a cluster's labels estimates its size if the answers do not name it.
  const isSized = weights === undefined && (!isOnePer || ids.every((id) => clusters?.has(id)));
  const sizes = isSized ? mapSizes(rows) : null;
  const chanceOf = sizes === null ? null : listChances([...sizes.values()], members.length);
  const byRow = new Map(
    members.map(([name, own], at) => {
      const size = sizes?.get(name) ?? 1;
      return [takenRows[at], chanceOf === null ? weightOfOwn(own) : size / chanceOf(size)];
    }),
  );
  return takeRows(rows, takenRows, (row) => byRow.get(row) as number);
}

/** Returns how many records each cluster has. */
function mapSizes({ joined: { column, join } }: Rows): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const id of column.ids) {
    const name = join.table.clusters?.get(id) ?? JSON.stringify([id]);
    sizes.set(name, (sizes.get(name) ?? 0) + 1);
  }
  return sizes;
}

/**
 * Returns the chance of a cluster by its size if records are drawn at random until so many clusters are seen. It holds
 * for labels of random records, and for a draw that passes over further records of a cluster.
 */
function listChances(sizes: readonly number[], seenCount: number): (size: number) => number {
  const bySize = [...Map.groupBy(sizes, (size) => size)];
  const seenAt = (share: number) =>
    bySize.reduce((sum, [size, { length }]) => sum + length * chanceAt(share, size), 0);
  const share = seenCount >= sizes.length ? 1 : solveIncreasing(seenAt, seenCount, [0, 1]);
  return (size) => chanceAt(share, size);
}

/** The chance that a cluster of a size is seen if a share of all records is drawn. */
function chanceAt(share: number, size: number): number {
  return 1 - (1 - share) ** size;
}
