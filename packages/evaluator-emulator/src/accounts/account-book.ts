import { createAccount, type Account, type Tier } from "./account.ts";

/** The accounts of all keys. */
export interface AccountBook {
  /** Whether only some keys are accepted. */
  readonly isRestricted: boolean;
  /** The account of a key, or null when the key is not accepted. */
  find(key: string): Account | null;
  /** Gives every key a new account. */
  reset(): void;
}

/**
 * Opens an account for each key at its first call.
 *
 * @param keys - The accepted keys; without them every key is accepted.
 */
export function createAccountBook(tier: Tier, keys?: readonly string[]): AccountBook {
  const accounts = new Map<string, Account>();
  return {
    isRestricted: keys !== undefined,
    find(key) {
      if (keys !== undefined && !keys.includes(key)) return null;
      const account = accounts.get(key) ?? createAccount(tier);
      accounts.set(key, account);
      return account;
    },
    reset: () => accounts.clear(),
  };
}
