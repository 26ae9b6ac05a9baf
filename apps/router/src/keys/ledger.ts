import { randomUUID } from "node:crypto";
import { type BudgetKey, charged, type Held, type Room, toRoom, stateAt } from "./budget-state.ts";
import { changeText, type openLedger, readText } from "./key-database.ts";

type BudgetState = ReturnType<typeof stateAt>;
type OpenTable = () => ReturnType<typeof openLedger>;

/** Keeps what budgets have spent, and what calls in flight have reserved. */
export class Ledger {
  readonly #open: OpenTable;
  readonly #now: () => number;
  #table: ReturnType<OpenTable> | null = null;
  #last: Promise<unknown> = Promise.resolve();
  /** How long a reservation lasts without a renewal. */
  readonly leaseMs: number;

  /** Opens its database at the first use, and again after a failure. */
  constructor(
    open: OpenTable,
    { leaseMs, now = Date.now }: { leaseMs: number; now?: () => number },
  ) {
    this.#open = open;
    this.#now = now;
    this.leaseMs = leaseMs;
  }

  /**
   * Reserves the first amount that fits, and returns its index; near the limit only the cheapest one may.
   * The known part is charged if the router dies before it renews or settles.
   */
  reserve(key: BudgetKey, amounts: readonly number[], knownNano = 0) {
    return this.#change(key, (state, renewedMs) => {
      const room = toRoom(key, state);
      const first = room.isNear ? amounts.length - 1 : 0;
      const at = amounts.findIndex((amount, each) => each >= first && amount <= room.nano);
      const nano = amounts[at];
      const none = { held: null as Held | null, at, room };
      if (nano === undefined) return [state, none];
      const newReservation = {
        id: randomUUID(),
        nano,
        known: knownNano,
        paid: 0,
        renewedMs,
        leaseMs: this.leaseMs,
      };
      const next = {
        ...state,
        requests: state.requests + 1,
        held: [...state.held, newReservation],
      };
      return [next, { ...none, held: newReservation, room: toRoom(key, next) }];
    });
  }

  /** Renews a reservation with new amounts; null if it does not fit any more: after its lease, others may have its room. */
  renew(
    key: BudgetKey,
    reservation: Held,
    next: Pick<Held, "nano" | "known">,
  ): Promise<Held | null> {
    return this.#change(key, (state, renewedMs) => {
      const { paid: paidNano, others } = without(state, reservation);
      const isLapsed = others.length === state.held.length;
      const more = next.nano - (isLapsed ? paidNano : reservation.nano);
      if (more > 0 && more > toRoom(key, state).nano) return [state, null];
      const renewal = { ...reservation, ...next, paid: paidNano, renewedMs };
      return [{ ...state, held: [...others, renewal] }, renewal];
    });
  }

  /** Ends a reservation and charges its cost. */
  settle(key: BudgetKey, reservation: Held, nano: number): Promise<Room> {
    return this.#change(key, (state) => {
      const { paid: paidNano, others } = without(state, reservation);
      const next = charged({ ...state, held: others }, nano - paidNano);
      return [next, toRoom(key, next)];
    });
  }

  /** Returns the spent and reserved amounts of a budget, and writes nothing: the clock of a reader may be wrong. */
  async state({ budget }: BudgetKey): Promise<BudgetState> {
    await this.#last.catch(() => undefined);
    this.#table = this.#table?.catch(this.#open) ?? this.#open();
    const { text, nowMs } = await readText(await this.#table, budget);
    return this.#toState(text, nowMs);
  }

  /** Writes to the database, so that a start fails early. @throws the error of the database. */
  async checkWritable(): Promise<void> {
    this.#table ??= this.#open();
    // No budget has this name.
    await changeText(await this.#table, "", (_, nowMs) => [String(nowMs), undefined]);
  }

  async close(): Promise<void> {
    await (await this.#table?.catch(() => null))?.close();
  }

  #toState(text: string | null, nowMs: number): BudgetState {
    const today = new Date(this.#now()).toISOString().slice(0, "2026-11-24".length);
    const emptyState = { day: today, dayNano: 0, monthNano: 0, requests: 0, held: [] };
    const storedState = { ...emptyState, ...(JSON.parse(text ?? "{}") as Partial<BudgetState>) };
    return stateAt(storedState, today, nowMs);
  }

  #change<TResult>(
    { budget }: BudgetKey,
    edit: (state: BudgetState, nowMs: number) => readonly [BudgetState, TResult],
  ): Promise<TResult> {
    // One after the other: calls at once would change each other's text again and again.
    const pendingChange = this.#last
      .catch(() => undefined)
      .then(async () => {
        this.#table = this.#table?.catch(this.#open) ?? this.#open();
        return changeText(await this.#table, budget, (text, nowMs) => {
          const [after, result] = edit(this.#toState(text, nowMs), nowMs);
          return [JSON.stringify(after), result];
        });
      });
    this.#last = pendingChange;
    return pendingChange;
  }
}

/** A reservation that is missing ended with its lease, so that its known part was charged. */
function without(state: BudgetState, { id, known: knownNano, paid: paidNano }: Held) {
  const others = state.held.filter((each) => each.id !== id);
  return { others, paid: others.length < state.held.length ? paidNano : knownNano };
}
