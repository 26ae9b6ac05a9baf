import { type CatalogModel, type Picodollars, picodollarsPerDollar } from "./catalog.ts";

/** The tier of an account (contract sections 2.7 and 3). */
export type Tier = "free" | "paid";

/** A key with its own account. */
export interface KeySetup {
  readonly key: string;
  /** @default the emulator's tier */
  readonly tier?: Tier;
  /** In US dollars. @default 5 on the free tier, 20 on the paid one */
  readonly balanceUsd?: number;
}

/** Credits of a new account in US dollars; the emulator's own figures. */
const startingDollars = { free: 5, paid: 20 } as const;

/** Calls of one model that a free account may make within the window; the emulator's own figure. */
const freeTierBurst = 3;
const windowMs = 60_000;

/** One key's account at the gateway; exported because declarations name it. */
export class Account {
  /** Counts from 1 in the order accounts are opened; names an account without its key. */
  readonly number: number;
  tier: Tier;
  /** Credits left. */
  balance: Picodollars;
  totalUsed: Picodollars = 0;
  /** Model id to the times of its calls on the free tier, in epoch milliseconds. */
  readonly #calls = new Map<string, number[]>();

  constructor(
    number: number,
    { tier, balanceUsd = startingDollars[tier] }: Omit<KeySetup, "key"> & { tier: Tier },
  ) {
    this.number = number;
    this.tier = tier;
    this.balance = toPicodollars(balanceUsd);
  }

  /** Takes the price of a call from the credits. */
  charge(amount: Picodollars): void {
    this.balance -= amount;
    this.totalUsed += amount;
  }

  /**
   * Adds credits and moves the account to the paid tier. The credits of a free account are the monthly
   * free credit, which then no longer applies (contract section 3).
   */
  topUp(dollars: number): void {
    const remainingBalance = this.tier === "free" ? Math.min(0, this.balance) : this.balance;
    this.balance = remainingBalance + toPicodollars(dollars);
    this.tier = "paid";
  }

  /** Counts a call and returns why the free tier rejects it, or null (contract section 7, rule 1). */
  rejectionOf(catalogModel: CatalogModel, nowMs: number): "no-access" | "rate-limited" | null {
    if (this.tier === "paid") return null;
    if (!catalogModel.isOnFreeTier) return "no-access";
    const recentTimes = (this.#calls.get(catalogModel.id) ?? []).filter(
      (callTime) => callTime > nowMs - windowMs,
    );
    if (recentTimes.length >= freeTierBurst) return "rate-limited";
    this.#calls.set(catalogModel.id, [...recentTimes, nowMs]);
    return null;
  }
}

function toPicodollars(dollars: number): Picodollars {
  return Math.round(dollars * picodollarsPerDollar);
}

/**
 * Opens an account for each key at its first call.
 *
 * @param keys - The accepted keys. @default every key
 */
export function createAccountBook(tier: Tier, keys?: readonly (string | KeySetup)[]) {
  const keySetups = keys?.map((accountKey) =>
    typeof accountKey === "string" ? { key: accountKey } : accountKey,
  );
  const accounts = new Map<string, Account>();
  let purchasedDollars: number[] = [];
  return {
    /** Whether only some keys are accepted. */
    isRestricted: keySetups !== undefined,
    /** Returns the account of a key, or null if there is none or it is not accepted. */
    find(accountKey: string | null) {
      if (accountKey === null) return null;
      const knownAccount = accounts.get(accountKey);
      if (knownAccount !== undefined) return knownAccount;
      const keySetup =
        keySetups === undefined ? {} : keySetups.find((setup) => setup.key === accountKey);
      if (keySetup === undefined) return null;
      const keyAccount = new Account(accounts.size + 1, { tier, ...keySetup });
      for (const dollars of purchasedDollars) keyAccount.topUp(dollars);
      accounts.set(accountKey, keyAccount);
      return keyAccount;
    },
    /** Tops up every account, also those opened later. */
    topUpAll(dollars: number) {
      purchasedDollars.push(dollars);
      for (const keyAccount of accounts.values()) keyAccount.topUp(dollars);
    },
    reset() {
      accounts.clear();
      purchasedDollars = [];
    },
  };
}
