import { randomUUID } from "node:crypto";
import { chmodSync, closeSync, openSync } from "node:fs";
import { uptime } from "node:os";
import { DatabaseSync } from "node:sqlite";
import type { Database } from "evaluator-runs/postgres";
import {
  type BudgetKey,
  type BudgetState,
  charged,
  type Held,
  type Room,
  roomOf,
  stateAt,
} from "./budget-state.ts";
import { isDatabase } from "./key-store.ts";

/** Keeps what budgets have spent, and what calls in flight have reserved. */
export class Ledger {
  readonly #database: LedgerDatabase;
  readonly #now: () => number;
  /** How long a reservation lasts without a renewal. */
  readonly leaseMs: number;

  constructor(
    database: LedgerDatabase | string,
    { leaseMs, now = Date.now }: { leaseMs: number; now?: () => number },
  ) {
    this.#database = typeof database === "string" ? openLedgerDatabase(database) : database;
    this.#now = now;
    this.leaseMs = leaseMs;
  }

  /** Reserves the first amount that fits, and returns its index; near the limit only the last one may. */
  reserve(key: BudgetKey, amounts: readonly number[]) {
    return this.#change(key, (state, renewedMs) => {
      const room = roomOf(key, state);
      const first = room.isNear ? amounts.length - 1 : 0;
      const at = amounts.findIndex((amount, each) => each >= first && amount <= room.nano);
      const nano = amounts[at];
      const { leaseMs } = this;
      const none = { held: null as Held | null, at, room };
      if (nano === undefined) return [state, none];
      const held = { id: randomUUID(), nano, known: 0, paid: 0, renewedMs, leaseMs };
      const next = { ...state, requests: state.requests + 1, held: [...state.held, held] };
      return [next, { ...none, held, room: roomOf(key, next) }];
    });
  }

  /** Renews a reservation with new amounts; null if it does not fit any more. */
  renew(key: BudgetKey, held: Held, next: Pick<Held, "nano" | "known">): Promise<Held | null> {
    return this.#change(key, (state, renewedMs) => {
      const more = next.nano - held.nano;
      if (more > 0 && more > roomOf(key, state).nano) return [state, null];
      const { paid, others } = without(state, held);
      const renewed = { ...held, ...next, paid, renewedMs };
      return [{ ...state, held: [...others, renewed] }, renewed];
    });
  }

  /** Ends a reservation and charges its cost. */
  settle(key: BudgetKey, held: Held, nano: number): Promise<Room> {
    return this.#change(key, (state) => {
      const { paid, others } = without(state, held);
      const next = charged({ ...state, held: others }, nano - paid);
      return [next, roomOf(key, next)];
    });
  }

  /** Returns the spent and reserved amounts of a budget. */
  state(key: BudgetKey): Promise<BudgetState> {
    return this.#change(key, (state) => [state, state]);
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  #change<TResult>(
    { budget }: BudgetKey,
    edit: (state: BudgetState, nowMs: number) => readonly [BudgetState, TResult],
  ): Promise<TResult> {
    const today = new Date(this.#now()).toISOString().slice(0, "2026-11-24".length);
    const unused = { day: today, dayNano: 0, monthNano: 0, requests: 0, held: [] };
    return this.#database.change(budget, (text, nowMs) => {
      const kept = { ...unused, ...(JSON.parse(text) as Partial<BudgetState>) };
      const [next, result] = edit(stateAt(kept, today, nowMs), nowMs);
      return [JSON.stringify(next), result];
    });
  }
}

/** A reservation that is missing ended with its lease, so that its known part was charged. */
function without(state: BudgetState, { id, known, paid }: Held) {
  const others = state.held.filter((each) => each.id !== id);
  return { others, paid: others.length < state.held.length ? paid : known };
}

/** Keeps a text for each budget. */
interface LedgerDatabase {
  /** Replaces a text while other processes wait. The time is that of a clock that is never set. */
  readonly change: <TResult>(
    budget: string,
    edit: (text: string, nowMs: number) => readonly [text: string, result: TResult],
  ) => Promise<TResult>;
  readonly close: () => Promise<void>;
}

/** The statements for SQLite and PostgreSQL. */
const statementsOn = (table: string) => ({
  make: `create table if not exists ${table} (budget text primary key, state text not null)`,
  lock: `insert into ${table} as kept (budget, state) values ($1, '{}')
    on conflict (budget) do update set state = kept.state returning state`,
  write: `update ${table} set state = $2 where budget = $1`,
});

/** Opens the ledger of the keys in a file or a database: `router-keys.spend.sqlite` for `router-keys.json`. */
function openLedgerDatabase(address: string): LedgerDatabase {
  const load = async () => (await import("evaluator-runs/postgres")).openDatabase(address);
  return isDatabase(address)
    ? postgresLedger(load)
    : sqliteLedger(`${address.replace(/\.json$/, "")}.spend.sqlite`);
}

/** Returns a ledger's file, for its owner only. It is opened at its first use, and again after a failure. */
export function sqliteLedger(path: string, uptimeMs = () => uptime() * 1000): LedgerDatabase {
  let opened: DatabaseSync | null = null;
  const { make, lock, write } = statementsOn("router_budgets");
  return {
    async change(budget, edit) {
      const database = (opened ??= openFile(path, make));
      database.exec("begin immediate");
      try {
        const row = database.prepare(lock).get({ $1: budget });
        const [text, result] = edit(String(row?.["state"]), Math.floor(uptimeMs()));
        database.prepare(write).run({ $1: budget, $2: text });
        database.exec("commit");
        return result;
      } finally {
        if (database.isTransaction) database.exec("rollback");
      }
    },
    close: async () => opened?.close(),
  };
}

function openFile(path: string, makeTable: string): DatabaseSync {
  closeSync(openSync(path, "a", 0o600));
  chmodSync(path, 0o600);
  const database = new DatabaseSync(path, { timeout: 2000 });
  database.exec(`pragma journal_mode = wal; pragma synchronous = normal; ${makeTable}`);
  return database;
}

/** The number is that of the keys' lock: routers that start at once wait for each other. */
const makeSchema =
  "select pg_advisory_xact_lock(1801812339); create schema if not exists evaluator_router";

/** Returns a ledger that all routers share. */
export function postgresLedger(open: () => Promise<Database>): LedgerDatabase {
  let opened: Promise<Database> | null = null;
  let last: Promise<unknown> = Promise.resolve();
  const { make, lock, write } = statementsOn("evaluator_router.budgets");
  const connect = async () => {
    const database = await open();
    await database.query(`${makeSchema}; ${make}`);
    return database;
  };
  return {
    change(budget, edit) {
      // One after the other: a hundred calls would wait too long for one of the pool's connections.
      const changed = last
        .catch(() => undefined)
        .then(async () => {
          opened = opened?.catch(connect) ?? connect();
          const database = await opened;
          return database.transaction(async ({ query }) => {
            const clock = "floor(extract(epoch from clock_timestamp()) * 1000) as now";
            const [row] = await query<Record<"state" | "now", string>>(`${lock}, ${clock}`, [
              budget,
            ]);
            const [text, result] = edit(row?.state ?? "{}", Number(row?.now));
            await query(write, [budget, text]);
            return result;
          });
        });
      last = changed;
      return changed;
    },
    close: async () => (await opened)?.close(),
  };
}
