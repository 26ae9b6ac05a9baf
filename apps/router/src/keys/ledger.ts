import { randomUUID } from "node:crypto";
import { roomOf, type Room, type Spent } from "./room.ts";
import type { RouterKey } from "./router-key.ts";

/** Runs one statement; its parameters are `$1`, `$2` and so on. */
export type Query = <TRow extends object>(
  text: string,
  values: readonly (string | number)[],
) => Promise<TRow[]>;

/** A database that keeps a ledger. The same statements run on each. */
export interface LedgerDatabase {
  /** Runs statements as one; those of other processes wait. */
  readonly transaction: <TResult>(run: (query: Query) => Promise<TResult>) => Promise<TResult>;
  /** A clock that all processes share and that is never set, in whole milliseconds. */
  readonly nowMs: (query: Query) => Promise<number>;
  readonly close: () => Promise<void>;
}

/** The tables of a ledger; amounts are whole nanodollars, since floats do not add up over a month. */
export const ledgerTables = `
  create table if not exists router_budgets (
    budget text primary key, day text not null, month text not null,
    day_nano bigint not null default 0, month_nano bigint not null default 0,
    requests bigint not null default 0
  );
  create table if not exists router_reservations (
    id text primary key, budget text not null, nano bigint not null, known_nano bigint not null,
    renewed_ms bigint not null, lease_ms bigint not null
  );
  create index if not exists router_reservations_budget on router_reservations (budget);`;

/** A budget with its limits; every key that names it has them. */
export type BudgetKey = Pick<RouterKey, "budget" | "usdPerDay" | "usdPerMonth">;

/** An amount that is reserved for one call. */
export interface Reservation {
  readonly id: string;
  readonly key: BudgetKey;
  readonly nano: number;
  /** The part that is charged if the reservation expires. */
  readonly knownNano: number;
  /** The part that was charged, since it expired before. */
  readonly paidNano: number;
}

interface LedgerOptions {
  /** How long a reservation lasts without a renewal. */
  readonly leaseMs: number;
  /** @default Date.now */
  readonly now?: () => number;
}

/** Keeps what budgets have spent and what calls in flight have reserved. */
export class Ledger {
  readonly #database: LedgerDatabase;
  readonly #now: () => number;
  readonly leaseMs: number;

  constructor(database: LedgerDatabase, { leaseMs, now = Date.now }: LedgerOptions) {
    this.#database = database;
    this.#now = now;
    this.leaseMs = leaseMs;
  }

  /** Reserves the first amount that fits, dearest first; near the limit only the last one may. */
  reserve(key: BudgetKey, amounts: readonly number[], knownNano: number) {
    return this.#within(key, async ({ query, spent, nowMs }) => {
      const room = roomOf(key, spent);
      const first = room.isNear ? amounts.length - 1 : 0;
      const at = amounts.findIndex((amount, each) => each >= first && amount <= room.nano);
      const nano = amounts[at];
      if (nano === undefined) return { reservation: null, at, room };
      const reservation = { id: randomUUID(), key, nano, knownNano, paidNano: 0 };
      await query(charge, [key.budget, 0, 1]);
      await this.#write(query, reservation, nowMs);
      return { reservation, at, room: { ...room, nano: room.nano - nano } };
    });
  }

  /** Renews a reservation with new amounts; null if it does not fit any more. */
  renew(held: Reservation, next: Pick<Reservation, "nano" | "knownNano">) {
    return this.#within(held.key, async ({ query, spent, nowMs }) => {
      const isMore = next.nano > held.nano;
      if (isMore && next.nano - held.nano > roomOf(held.key, spent).nano) return null;
      const rows = await query("select id from router_reservations where id = $1", [held.id]);
      const paidNano = rows.length > 0 ? held.paidNano : held.knownNano;
      const renewed = { ...held, ...next, paidNano };
      await this.#write(query, renewed, nowMs);
      return renewed;
    });
  }

  /** Ends a reservation and charges its cost. */
  settle({ id, key, ...held }: Reservation, nano: number): Promise<Room> {
    return this.#within(key, async ({ query, spent }) => {
      const text = "delete from router_reservations where id = $1 returning nano";
      const [row] = await query<{ nano: Whole }>(text, [id]);
      const charged = Math.max(0, nano - (row === undefined ? held.knownNano : held.paidNano));
      await query(charge, [key.budget, charged, 0]);
      const reservedNano = spent.reservedNano - Number(row?.nano ?? 0);
      const [dayNano, monthNano] = [spent.dayNano + charged, spent.monthNano + charged];
      return roomOf(key, { ...spent, dayNano, monthNano, reservedNano });
    });
  }

  /** Returns what a budget has spent and reserved, without expired reservations. */
  spent(key: BudgetKey): Promise<Spent> {
    return this.#within(key, async ({ spent }) => spent);
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  /** Opens the period and ends expired reservations first. */
  #within<TResult>(
    { budget }: BudgetKey,
    run: (open: { query: Query; spent: Spent; nowMs: number }) => Promise<TResult>,
  ): Promise<TResult> {
    return this.#database.transaction(async (query) => {
      const day = new Date(this.#now()).toISOString().slice(0, "2026-01-31".length);
      // The first statement locks the budget's row.
      const [row] = await query<BudgetRow>(openPeriod, [budget, day, day.slice(0, -3)]);
      if (row === undefined) throw new Error("The ledger lost a budget.");
      const nowMs = await this.#database.nowMs(query);
      const expired = await query<{ known_nano: Whole }>(expire, [budget, nowMs]);
      const late = expired.reduce((sum, { known_nano }) => sum + Number(known_nano), 0);
      if (late > 0) await query(charge, [budget, late, 0]);
      const [sum] = await query<{ nano: Whole }>(reserved, [budget]);
      const spent = {
        day: row.day,
        month: row.month,
        dayNano: Number(row.day_nano) + late,
        monthNano: Number(row.month_nano) + late,
        reservedNano: Number(sum?.nano ?? 0),
        requests: Number(row.requests),
      };
      return run({ query, spent, nowMs });
    });
  }

  /** A reservation that has expired is written again without the part that was charged. */
  async #write(query: Query, held: Reservation, nowMs: number): Promise<void> {
    const { id, key, nano, knownNano, paidNano } = held;
    const amounts = [Math.max(0, nano - paidNano), Math.max(0, knownNano - paidNano)];
    await query(keepReservation, [id, key.budget, ...amounts, nowMs, this.leaseMs]);
  }
}

/** PostgreSQL's driver returns such numbers as texts. */
type Whole = number | string;

interface BudgetRow {
  readonly day: string;
  readonly month: string;
  readonly day_nano: Whole;
  readonly month_nano: Whole;
  readonly requests: Whole;
}

const ifNew = (period: string, then: string, otherwise: string) =>
  `case when excluded.${period} > router_budgets.${period} then ${then} else router_budgets.${otherwise} end`;

/** A clock that steps back keeps the period that was opened, so that it refills nothing. */
const openPeriod = `insert into router_budgets (budget, day, month) values ($1, $2, $3)
  on conflict (budget) do update set
    day_nano = ${ifNew("day", "0", "day_nano")},
    day = ${ifNew("day", "excluded.day", "day")},
    month_nano = ${ifNew("month", "0", "month_nano")},
    requests = ${ifNew("month", "0", "requests")},
    month = ${ifNew("month", "excluded.month", "month")}
  returning day, month, day_nano, month_nano, requests`;

/** A renewal in the far future is older than the machine's start. */
const expire = `delete from router_reservations
  where budget = $1 and (renewed_ms + lease_ms <= $2 or renewed_ms - lease_ms > $2)
  returning known_nano`;

const reserved = "select coalesce(sum(nano), 0) as nano from router_reservations where budget = $1";

const charge = `update router_budgets set day_nano = day_nano + $2, month_nano = month_nano + $2,
  requests = requests + $3 where budget = $1`;

const keepReservation = `insert into router_reservations values ($1, $2, $3, $4, $5, $6)
  on conflict (id) do update set nano = excluded.nano, known_nano = excluded.known_nano,
    renewed_ms = excluded.renewed_ms`;
