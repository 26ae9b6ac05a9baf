import type { Checks } from "./checks.ts";

/** The password of the database, which no line may show. */
export const PASSWORD = "qwhpgxzkvmnjtrys";

// So many characters in a row count as a leak.
const LENGTH = 8;

/** Looks for parts of keys and passwords in all that a program writes. */
export class Secrets {
  readonly #checks: Checks;
  readonly #pattern: RegExp;
  /** Is found in each text with a part of a secret, and in few others: a faster test. */
  readonly #letters: RegExp;

  /** @param secrets - Letters only. */
  constructor(checks: Checks, secrets: readonly string[]) {
    this.#checks = checks;
    const parts = secrets.flatMap((secret) =>
      Array.from({ length: secret.length - LENGTH + 1 }, (_, at) => secret.slice(at, at + LENGTH)),
    );
    this.#letters = new RegExp(`[${secrets.join("")}]{${LENGTH}}`);
    this.#pattern = new RegExp(parts.join("|"));
  }

  /** Looks through a text; `where` names it in the result. */
  check(where: string, text: string): void {
    const isFree = !this.#letters.test(text) || !this.#pattern.test(text);
    this.#checks.expect("secret", isFree, () => `a part of a key is in ${where}`);
  }
}
