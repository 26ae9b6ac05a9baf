import { picodollarsPerDollar, type Picodollars } from "../catalog/price.ts";

/** What an account may do (contract sections 2.7 and 3). */
export type Tier = "free" | "paid";

/** One key's account at the gateway. */
export interface Account {
  tier: Tier;
  /** Credits left. */
  balance: Picodollars;
  /** Credits spent. */
  totalUsed: Picodollars;
  /** Model id to the times of its calls on the free tier, in epoch milliseconds. */
  readonly calls: Map<string, number[]>;
}

/** Credits of a new account in US dollars; the emulator's own figures. */
const startingDollars = { free: 5, paid: 20 } as const;

/** A new account with its starting credits. */
export function createAccount(tier: Tier): Account {
  return {
    tier,
    balance: startingDollars[tier] * picodollarsPerDollar,
    totalUsed: 0,
    calls: new Map(),
  };
}

/** Takes the price of a call from the credits. */
export function chargeAccount(account: Account, amount: Picodollars): void {
  account.balance -= amount;
  account.totalUsed += amount;
}
