import { randomUUID } from "node:crypto";
import { type BudgetKey, charged, type Held, type Room, toRoom, stateAt } from "./budget-state.ts";
import { changeText, type openLedger, readText } from "./key-database.ts";

type BudgetState = ReturnType<typeof stateAt>;
type OpenTable = () => ReturnType<typeof openLedger>;

/** Keeps what budgets have spent, and what calls in flight have reserved. */
export class Ledger {
  readonly #openTable: OpenTable;
  readonly #now: () => number;
  #openedTable: ReturnType<OpenTable> | null = null;
  #lastChange: Promise<unknown> = Promise.resolve();
  /** How long a reservation lasts without a renewal. */
  readonly leaseMs: number;

  /** Opens its database at the first use, and again after a failure. */
  constructor(
    openTable: OpenTable,
    { leaseMs, now = Date.now }: { leaseMs: number; now?: () => number },
  ) {
    this.#openTable = openTable;
    this.#now = now;
    this.leaseMs = leaseMs;
  }

  /**
   * Reserves the first amount that fits, and returns its index; near the limit only the cheapest one may.
   * The known part is charged if the router dies before it renews or settles.
   */
  reserve(budgetKey: BudgetKey, amounts: readonly number[], knownNano = 0) {
    return this.#change(budgetKey, (budgetState, renewedMs) => {
      const room = toRoom(budgetKey, budgetState);
      const firstIndex = room.isNear ? amounts.length - 1 : 0;
      const at = amounts.findIndex((amount, index) => index >= firstIndex && amount <= room.nano);
      const nano = amounts[at];
      const noReservation = { held: null as Held | null, at, room };
      if (nano === undefined) return [budgetState, noReservation];
      const newReservation = {
        id: randomUUID(),
        nano,
        known: knownNano,
        paid: 0,
        renewedMs,
        leaseMs: this.leaseMs,
      };
      const next = {
        ...budgetState,
        requests: budgetState.requests + 1,
        held: [...budgetState.held, newReservation],
      };
      return [next, { ...noReservation, held: newReservation, room: toRoom(budgetKey, next) }];
    });
  }

  /** Renews a reservation with new amounts; null if it does not fit any more: after its lease, others may have its room. */
  renew(
    budgetKey: BudgetKey,
    reservation: Held,
    renewedAmounts: Pick<Held, "nano" | "known">,
  ): Promise<Held | null> {
    return this.#change(budgetKey, (budgetState, renewedMs) => {
      const { paid: paidNano, others } = without(budgetState, reservation);
      const isLapsed = others.length === budgetState.held.length;
      const more = renewedAmounts.nano - (isLapsed ? paidNano : reservation.nano);
      if (more > 0 && more > toRoom(budgetKey, budgetState).nano) return [budgetState, null];
      const renewal = { ...reservation, ...renewedAmounts, paid: paidNano, renewedMs };
      return [{ ...budgetState, held: [...others, renewal] }, renewal];
    });
  }

  /** Ends a reservation and charges its cost. */
  settle(budgetKey: BudgetKey, reservation: Held, spentNano: number): Promise<Room> {
    return this.#change(budgetKey, (budgetState) => {
      const { paid: paidNano, others } = without(budgetState, reservation);
      const nextState = charged({ ...budgetState, held: others }, spentNano - paidNano);
      return [nextState, toRoom(budgetKey, nextState)];
    });
  }

  /** Returns the spent and reserved amounts of a budget, and writes nothing: the clock of a reader may be wrong. */
  async state({ budget }: BudgetKey): Promise<BudgetState> {
    await this.#lastChange.catch(() => undefined);
    this.#openedTable = this.#openedTable?.catch(this.#openTable) ?? this.#openTable();
    const { text, nowMs } = await readText(await this.#openedTable, budget);
    return this.#toState(text, nowMs);
  }

  /** Writes to the database, so that a start fails early. @throws the error of the database. */
  async checkWritable(): Promise<void> {
    this.#openedTable ??= this.#openTable();
    // No budget has this name.
    await changeText(await this.#openedTable, "", (_, nowMs) => [String(nowMs), undefined]);
  }

  async close(): Promise<void> {
    await (await this.#openedTable?.catch(() => null))?.close();
  }

  #toState(text: string | null, nowMs: number): BudgetState {
    const today = new Date(this.#now()).toISOString().slice(0, "2026-11-24".length);
    const emptyState = { day: today, dayNano: 0, monthNano: 0, requests: 0, held: [] };
    const storedState = { ...emptyState, ...(JSON.parse(text ?? "{}") as Partial<BudgetState>) };
    return stateAt(storedState, today, nowMs);
  }

  #change<TResult>(
    { budget }: BudgetKey,
    editState: (budgetState: BudgetState, nowMs: number) => readonly [BudgetState, TResult],
  ): Promise<TResult> {
    // One after the other: calls at once would change each other's text again and again.
    const pendingChange = this.#lastChange
      .catch(() => undefined)
      .then(async () => {
        this.#openedTable = this.#openedTable?.catch(this.#openTable) ?? this.#openTable();
        return changeText(await this.#openedTable, budget, (storedText, nowMs) => {
          const [editedState, editResult] = editState(this.#toState(storedText, nowMs), nowMs);
          return [JSON.stringify(editedState), editResult];
        });
      });
    this.#lastChange = pendingChange;
    return pendingChange;
  }
}

/** A reservation that is missing ended with its lease, so that its known part was charged. */
function without(budgetState: BudgetState, { id, known: knownNano, paid: paidNano }: Held) {
  const others = budgetState.held.filter((reservation) => reservation.id !== id);
  return { others, paid: others.length < budgetState.held.length ? paidNano : knownNano };
}
