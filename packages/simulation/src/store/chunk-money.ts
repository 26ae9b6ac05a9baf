import { type ChunkLease, countLost, noCounts } from "./rows.ts";
import type { Tables } from "./tables.ts";

/** Gives a chunk to a worker, and returns what it has cost, or may have. */
export function takeChunk({ run, chunk, lease }: ChunkLease, tables: Tables): number {
  const chunks = tables.chunksOf(run);
  const begun = { lease: null, finishedAtMs: null, reservedUsd: 0, uncountedUsd: 0, ...noCounts };
  const row = chunks.get(chunk) ?? begun;
  chunks.set(chunk, row);
  const isTaken = row.lease !== lease && row.finishedAtMs === null;
  const { costUsd } = tables.count(run, chunk);
  if (isTaken) countLost(row, row.reservedUsd, costUsd);
  row.lease = lease;
  return costUsd + row.uncountedUsd;
}

/** Reserves the possible cost of a chunk, and returns the part that is left; null if another worker has it. */
export function reserveChunk(
  { run, chunk, lease }: ChunkLease,
  wantedUsd: number,
  tables: Tables,
): number | null {
  const of = tables.runs.get(run);
  const chunks = tables.chunksOf(run);
  let granted = wantedUsd;
  if (of !== undefined && of.maxCostUsd !== null) {
    const others = [...chunks].filter(
      ([other, { finishedAtMs }]) => other !== chunk && finishedAtMs === null,
    );
    const reserved = others.reduce((sum, [, { reservedUsd }]) => sum + reservedUsd, 0);
    const left = of.maxCostUsd - of.costUsd - of.uncountedUsd - reserved;
    granted = Math.min(wantedUsd, Math.max(0, left));
  }
  const row = chunks.get(chunk);
  if (row?.lease !== lease) return null;
  row.reservedUsd = Math.max(granted, Math.min(wantedUsd, row.reservedUsd));
  return granted;
}

/** Sets the most that a run may cost. */
export function capRun(run: number, maxCostUsd: number, tables: Tables): void {
  const of = tables.runs.get(run);
  if (of !== undefined) of.maxCostUsd = maxCostUsd;
  for (const [chunk, row] of tables.chunksOf(run)) {
    if (row.finishedAtMs !== null) continue;
    const usd = row.uncountedUsd + tables.count(run, chunk).costUsd;
    row.reservedUsd = Math.max(row.reservedUsd, usd);
  }
}
