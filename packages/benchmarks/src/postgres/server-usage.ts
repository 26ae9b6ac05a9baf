import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import type { Client } from "pg";
import type { OwnServer } from "evaluator-cli-kit/postgres-server";

/** What a server has used so far. */
export interface ServerUsage {
  /** Processor time of all its processes; null where that cannot be seen. */
  readonly cpuMs: number | null;
  /** Transactions of the database; a statement outside of one is one. */
  readonly transactions: number;
  readonly walBytes: number;
}

// Linux counts processor time in hundredths of a second for every program.
const MS_PER_TICK = 10;

/** Reads what a server has used so far. */
export async function readUsage(client: Client, own: OwnServer | null): Promise<ServerUsage> {
  const { rows } = await client.query<{ transactions: string; bytes: string }>(
    `select (select xact_commit from pg_stat_database where datname = current_database())
       as transactions, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as bytes`,
  );
  const [row] = rows;
  const isSeen = own !== null && process.platform === "linux";
  return {
    cpuMs: isSeen ? processesMs(own.processId()) : null,
    transactions: Number(row?.transactions),
    walBytes: Number(row?.bytes),
  };
}

function processesMs(parent: number): number {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const children = all.map(statOf).filter((stat) => stat !== null && stat.parent === parent);
  const own = statOf(String(parent));
  // The parent's own time, and that of processes that have ended, with theirs.
  return [own, ...children].reduce((sum, stat) => sum + (stat?.ms ?? 0), 0);
}

function statOf(id: string): { parent: number; ms: number } | null {
  try {
    const text = readFileSync(`/proc/${id}/stat`, "utf8");
    // The second field is the program's name, which may hold anything.
    const fields = text
      .slice(text.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    const ticks = fields.slice(11, 15).reduce((sum, count) => sum + count, 0);
    return { parent: fields[1] ?? 0, ms: ticks * MS_PER_TICK };
  } catch {
    return null;
  }
}
