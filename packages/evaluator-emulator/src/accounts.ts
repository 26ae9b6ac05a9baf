import type { CatalogModel } from "./catalog/models.ts";
import { type Picodollars, picodollarsPerDollar } from "./catalog/price.ts";

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
interface AccountStart {
  readonly tier: Tier;
  /** In US dollars. @default 5 on the free tier, 20 on the paid one */
  readonly balanceUsd?: number | undefined;
}

/** Credits of a new account in US dollars; the emulator's own figures. */
const startingDollars = { free: 5, paid: 20 } as const;

/** Returns a new account with its starting credits. */
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

/**
 * Adds credits, which moves the account to the paid tier for its next call. What a free account had
 * left is the monthly free credit, which no longer applies then (contract section 3).
 */
export function topUpAccount(account: Account, dollars: number): void {
  const kept = account.tier === "free" ? Math.min(0, account.balance) : account.balance;
  account.balance = kept + toPicodollars(dollars);
  account.tier = "paid";
}

function toPicodollars(dollars: number): Picodollars {
  return Math.round(dollars * picodollarsPerDollar);
}

/** A key with an account of its own making. */
export interface KeySetup {
  readonly key: string;
  /** @default the emulator's tier */
  readonly tier?: Tier;
  /** In US dollars. @default 5 on the free tier, 20 on the paid one */
  readonly balanceUsd?: number;
}

/** The accounts of all keys. */
export type AccountBook = ReturnType<typeof createAccountBook>;

/**
 * Opens an account for each key at its first call.
 *
 * @param keys - The accepted keys; without them every key is accepted.
 */
export function createAccountBook(tier: Tier, keys?: readonly (string | KeySetup)[]) {
  const setups = keys?.map((key) => (typeof key === "string" ? { key } : key));
  const accounts = new Map<string, Account>();
  let purchases: number[] = [];

  function open(setup: Partial<KeySetup>): Account {
    const account = createAccount({ tier, ...setup }, accounts.size + 1);
    for (const dollars of purchases) topUpAccount(account, dollars);
    return account;
  }

  return {
    /** Whether only some keys are accepted. */
    isRestricted: setups !== undefined,
    /** The account of a key, or null when the key is not accepted. */
    find(key: string) {
      const known = accounts.get(key);
      if (known !== undefined) return known;
      const setup = setups === undefined ? {} : setups.find((setup) => setup.key === key);
      if (setup === undefined) return null;
      const account = open(setup);
      accounts.set(key, account);
      return account;
    },
    /** Tops up every account, those not opened yet included. */
    topUpAll(dollars: number) {
      purchases.push(dollars);
      for (const account of accounts.values()) topUpAccount(account, dollars);
    },
    /** Opens a new account for every key. */
    reset() {
      accounts.clear();
      purchases = [];
    },
  };
}

/** Calls of one model a free-tier account may make within the window; the emulator's own figure. */
export const freeTierBurst = 3;
const windowMs = 60_000;

/** Why the free tier rejects a call; both are the same wall (contract section 7, rule 1). */
export type FreeTierProblem = "no-access" | "rate-limited";

/** Counts a call against the free tier and says whether it is rejected; null lets it through. */
export function meetFreeTierWall(
  account: Account,
  model: CatalogModel,
  nowMs: number,
): FreeTierProblem | null {
  if (account.tier === "paid") return null;
  if (!model.isOnFreeTier) return "no-access";
  const recent = (account.calls.get(model.id) ?? []).filter((time) => time > nowMs - windowMs);
  if (recent.length >= freeTierBurst) return "rate-limited";
  account.calls.set(model.id, [...recent, nowMs]);
  return null;
}
