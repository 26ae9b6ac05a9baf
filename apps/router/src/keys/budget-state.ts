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
  { day, held: reservations, ...before }: BudgetState,
  today: string,
  nowMs: number,
) {
  const isNew = { day: today > day, month: today.slice(0, 7) > day.slice(0, 7) };
  const { dayNano, monthNano, requests } = before;
  // A renewal in the far future is older than the machine's start.
  const isLive = ({ renewedMs, leaseMs }: Held) => Math.abs(nowMs - renewedMs) < leaseMs;
  const open = {
    day: isNew.day ? today : day,
    dayNano: isNew.day ? 0 : dayNano,
    monthNano: isNew.month ? 0 : monthNano,
    requests: isNew.month ? 0 : requests,
    held: reservations.filter(isLive),
  };
  const endedReservations = reservations.filter((each) => !isLive(each));
  return charged(
    open,
    sum(endedReservations.map(({ known: knownNano, paid: paidNano }) => knownNano - paidNano)),
  );
}

/** Returns the state after a charge. */
export function charged(state: BudgetState, nano: number): BudgetState {
  const by = Math.max(0, nano);
  return { ...state, dayNano: state.dayNano + by, monthNano: state.monthNano + by };
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
export function toRoom({ usdPerDay, usdPerMonth }: BudgetKey, state: BudgetState) {
  const [year = 0, month = 0, date = 0] = state.day.split("-").map(Number);
  const reservedTotal = reservedNano(state);
  const within = (usd: number | null, spentAmount: number, resetAtMs: number) => {
    const limit = usd === null ? Infinity : toNano(usd);
    return {
      nano: limit - spentAmount - reservedTotal,
      resetAtMs,
      isNear: spentAmount >= NEAR * limit,
    };
  };
  const ofDay = within(usdPerDay, state.dayNano, Date.UTC(year, month - 1, date + 1));
  const ofMonth = within(usdPerMonth, state.monthNano, Date.UTC(year, month));
  const isNear = ofDay.isNear || ofMonth.isNear;
  return { ...(ofDay.nano < ofMonth.nano ? ofDay : ofMonth), isNear };
}

/** Returns a budget's spending and limits in US dollars, and the end of the tightest limit's period. */
export function describeBudget(key: BudgetKey, state: BudgetState) {
  const { nano, resetAtMs, isNear } = toRoom(key, state);
  return {
    budget: key.budget,
    dayUsd: state.dayNano / 1e9,
    monthUsd: state.monthNano / 1e9,
    reservedUsd: reservedNano(state) / 1e9,
    limitDayUsd: key.usdPerDay,
    limitMonthUsd: key.usdPerMonth,
    remainingUsd: Math.max(0, nano) / 1e9,
    /** Whether only the cheapest tier answers `auto` until the reset. */
    isNear,
    requests: state.requests,
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
