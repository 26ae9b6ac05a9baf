import { createAccount, topUpAccount, type Account, type Tier } from "./account.ts";

/** A key with an account of its own making. */
export interface KeySetup {
  readonly key: string;
  /** @default the emulator's tier */
  readonly tier?: Tier;
  /** In US dollars. @default 5 on the free tier, 20 on the paid one */
  readonly balanceUsd?: number;
}

/** The accounts of all keys. */
export interface AccountBook {
  /** Whether only some keys are accepted. */
  readonly isRestricted: boolean;
  /** The account of a key, or null when the key is not accepted. */
  find(key: string): Account | null;
  /** Tops up every account, those not opened yet included. */
  topUpAll(dollars: number): void;
  /** Gives every key a new account. */
  reset(): void;
}

/**
 * Opens an account for each key at its first call.
 *
 * @param keys - The accepted keys; without them every key is accepted.
 */
export function createAccountBook(tier: Tier, keys?: readonly (string | KeySetup)[]): AccountBook {
  const setups = keys?.map((key) => (typeof key === "string" ? { key } : key));
  const accounts = new Map<string, Account>();
  let purchases: number[] = [];

  function open(setup: Partial<KeySetup>): Account {
    const account = createAccount({ tier, ...setup }, accounts.size + 1);
    for (const dollars of purchases) topUpAccount(account, dollars);
    return account;
  }

  return {
    isRestricted: setups !== undefined,
    find(key) {
      const known = accounts.get(key);
      if (known !== undefined) return known;
      const setup = setups === undefined ? {} : setups.find((setup) => setup.key === key);
      if (setup === undefined) return null;
      const account = open(setup);
      accounts.set(key, account);
      return account;
    },
    topUpAll(dollars) {
      purchases.push(dollars);
      for (const account of accounts.values()) topUpAccount(account, dollars);
    },
    reset() {
      accounts.clear();
      purchases = [];
    },
  };
}
