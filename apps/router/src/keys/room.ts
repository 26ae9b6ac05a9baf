import type { RouterKey } from "./router-key.ts";

type Limits = Pick<RouterKey, "usdPerDay" | "usdPerMonth">;

/** What a budget has spent in its periods, and reserved, in nanodollars. */
export interface Spent {
  /** The UTC day and month, such as 2026-11-24 and 2026-11. */
  readonly day: string;
  readonly month: string;
  readonly dayNano: number;
  readonly monthNano: number;
  readonly reservedNano: number;
  /** Calls in this month. */
  readonly requests: number;
}

/** The room of a budget within its tightest limit. */
export interface Room {
  readonly nano: number;
  /** The end of the limit's period, in milliseconds since 1970. */
  readonly resetAtMs: number;
  /** Whether so much of a limit is spent that only the cheapest tier is allowed. */
  readonly isNear: boolean;
}

/** The spent part of a limit from which on the cheapest tier replies. */
const NEAR = 0.8;

const NANO = 1_000_000_000;

/** Returns the nanodollars of US dollars. A price has at most a few more decimals. */
export function toNano(usd: number): number {
  return Math.ceil(Number((usd * NANO).toFixed(3)));
}

/** Returns the US dollars of nanodollars. */
export function toUsd(nano: number): number {
  return nano / NANO;
}

/** Whether a key has a budget; without a limit there is none. */
export function hasBudget({ usdPerDay, usdPerMonth }: Limits): boolean {
  return usdPerDay !== null || usdPerMonth !== null;
}

/** Returns the room that a budget's limits leave; a budget without a limit has all room. */
export function roomOf(
  { usdPerDay, usdPerMonth }: Limits,
  { day, month, dayNano, monthNano, reservedNano }: Spent,
): Room {
  const ends = [
    { usd: usdPerDay, spent: dayNano, resetAtMs: Date.parse(day) + 86_400_000 },
    { usd: usdPerMonth, spent: monthNano, resetAtMs: endOf(month) },
  ];
  const limits = ends.flatMap(({ usd, spent, resetAtMs }): Room[] => {
    if (usd === null) return [];
    const limit = toNano(usd);
    return [{ nano: limit - spent - reservedNano, resetAtMs, isNear: spent >= NEAR * limit }];
  });
  const [tightest] = limits.toSorted((one, other) => one.nano - other.nano);
  const isNear = limits.some((each) => each.isNear);
  return { nano: Infinity, resetAtMs: endOf(month), ...tightest, isNear };
}

function endOf(month: string): number {
  const start = new Date(`${month}-01T00:00:00Z`);
  return start.setUTCMonth(start.getUTCMonth() + 1);
}
