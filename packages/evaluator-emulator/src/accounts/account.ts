import { picodollarsPerDollar, type Picodollars } from "../catalog/price.ts";

/** What an account may do (contract sections 2.7 and 3). */
export type Tier = "free" | "paid";

/** One key's account at the gateway. */
export interface Account {
  /** Counts from 1 in the order accounts are opened; names an account where a key must not. */
  readonly number: number;
  tier: Tier;
  /** Credits left. */
  balance: Picodollars;
  /** Credits spent. */
  totalUsed: Picodollars;
  /** Model id to the times of its calls on the free tier, in epoch milliseconds. */
  readonly calls: Map<string, number[]>;
}

/** How an account starts. */
export interface AccountStart {
  readonly tier: Tier;
  /** In US dollars. @default 5 on the free tier, 20 on the paid one */
  readonly balanceUsd?: number | undefined;
}

/** Credits of a new account in US dollars; the emulator's own figures. */
const startingDollars = { free: 5, paid: 20 } as const;

/** A new account with its starting credits. */
export function createAccount({ tier, balanceUsd }: AccountStart, number = 1): Account {
  return {
    number,
    tier,
    balance: toPicodollars(balanceUsd ?? startingDollars[tier]),
    totalUsed: 0,
    calls: new Map(),
  };
}

/** Takes the price of a call from the credits. */
export function chargeAccount(account: Account, amount: Picodollars): void {
  account.balance -= amount;
  account.totalUsed += amount;
}

/** Adds credits, which moves the account to the paid tier for its next call (contract section 3). */
export function topUpAccount(account: Account, dollars: number): void {
  account.balance += toPicodollars(dollars);
  account.tier = "paid";
}

function toPicodollars(dollars: number): Picodollars {
  return Math.round(dollars * picodollarsPerDollar);
}
