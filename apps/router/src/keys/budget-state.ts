import type { RouterKey } from "./router-key.ts";

/** A budget with its limits in US dollars; all keys that name it have them. */
export type BudgetKey = Pick<RouterKey, "budget" | "usdPerDay" | "usdPerMonth">;

/** Whether a key has a budget; without a limit there is none. */
export function hasBudget({ usdPerDay, usdPerMonth }: BudgetKey): boolean {
  return usdPerDay !== null || usdPerMonth !== null;
}

/** The name of the key that pays for blind comparisons; no client has it. */
export const blindName = "blind";

/** Returns the key that pays for blind comparisons. */
export function blindKey(usdPerDay: number) {
  return { name: blindName, budget: blindName, usdPerDay, usdPerMonth: null };
}

/** An amount that is reserved for one call, in nanodollars. */
export interface Held {
  readonly id: string;
  readonly nano: number;
  /** Charged if the lease ends. */
  readonly known: number;
  /** Charged already, at the end of an earlier lease. */
  readonly paid: number;
  readonly renewedMs: number;
  readonly leaseMs: number;
}

/** A budget's amounts in whole nanodollars, since floats do not add up over a month. */
interface BudgetState {
  /** The UTC day of the newest period, such as 2026-11-24. */
  readonly day: string;
  readonly dayNano: number;
  readonly monthNano: number;
  /** Calls in this month. */
  readonly requests: number;
  readonly held: readonly Held[];
}

/** Returns the state on a day. A clock that steps back keeps the period. An ended lease is charged. */
export function stateAt(
  { day, held: reservations, ...earlierState }: BudgetState,
  today: string,
  nowMs: number,
) {
  const isNewPeriod = { day: today > day, month: today.slice(0, 7) > day.slice(0, 7) };
  const { dayNano, monthNano, requests } = earlierState;
  // A renewal in the far future is older than the machine's start.
  const isLive = ({ renewedMs, leaseMs }: Held) => Math.abs(nowMs - renewedMs) < leaseMs;
  const openState = {
    day: isNewPeriod.day ? today : day,
    dayNano: isNewPeriod.day ? 0 : dayNano,
    monthNano: isNewPeriod.month ? 0 : monthNano,
    requests: isNewPeriod.month ? 0 : requests,
    held: reservations.filter(isLive),
  };
  const endedReservations = reservations.filter((reservation) => !isLive(reservation));
  return charged(
    openState,
    sum(endedReservations.map(({ known: knownNano, paid: paidNano }) => knownNano - paidNano)),
  );
}

/** Returns the state after a charge. */
export function charged(state: BudgetState, chargedNano: number): BudgetState {
  const addedNano = Math.max(0, chargedNano);
  return { ...state, dayNano: state.dayNano + addedNano, monthNano: state.monthNano + addedNano };
}

/** Returns the reserved nanodollars. */
export function reservedNano({ held: reservations }: BudgetState): number {
  return sum(reservations.map(({ nano, paid: paidNano }) => Math.max(0, nano - paidNano)));
}

/** The spent part of a limit from which on only the cheapest tier is allowed. */
const NEAR = 0.8;

/** The room within the tightest limit of a budget. */
export type Room = ReturnType<typeof toRoom>;

/** Returns a budget's room in nanodollars, and the end of the tightest limit's period. */
export function toRoom({ usdPerDay, usdPerMonth }: BudgetKey, budgetState: BudgetState) {
  const [year = 0, month = 0, date = 0] = budgetState.day.split("-").map(Number);
  const reservedTotal = reservedNano(budgetState);
  const roomWithin = (limitUsd: number | null, spentAmount: number, resetAtMs: number) => {
    const limitNano = limitUsd === null ? Infinity : toNano(limitUsd);
    return {
      nano: limitNano - spentAmount - reservedTotal,
      resetAtMs,
      isNear: spentAmount >= NEAR * limitNano,
    };
  };
  const dayRoom = roomWithin(usdPerDay, budgetState.dayNano, Date.UTC(year, month - 1, date + 1));
  const monthRoom = roomWithin(usdPerMonth, budgetState.monthNano, Date.UTC(year, month));
  const isNear = dayRoom.isNear || monthRoom.isNear;
  return { ...(dayRoom.nano < monthRoom.nano ? dayRoom : monthRoom), isNear };
}

/** Returns a budget's spending and limits in US dollars, and the end of the tightest limit's period. */
export function describeBudget(budgetKey: BudgetKey, budgetState: BudgetState) {
  const { nano, resetAtMs, isNear } = toRoom(budgetKey, budgetState);
  return {
    budget: budgetKey.budget,
    dayUsd: budgetState.dayNano / 1e9,
    monthUsd: budgetState.monthNano / 1e9,
    reservedUsd: reservedNano(budgetState) / 1e9,
    limitDayUsd: budgetKey.usdPerDay,
    limitMonthUsd: budgetKey.usdPerMonth,
    remainingUsd: Math.max(0, nano) / 1e9,
    /** Whether only the cheapest tier answers `auto` until the reset. */
    isNear,
    requests: budgetState.requests,
    resetAt: new Date(resetAtMs).toISOString(),
  };
}

/** Returns whole nanodollars, rounded up; the product's own error is far below a thousandth. */
export function toNano(usd: number): number {
  return Math.ceil(Number((usd * 1e9).toFixed(3)));
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}
