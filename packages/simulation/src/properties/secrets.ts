import type { Checks } from "./checks.ts";

// So many characters in a row count as a leak.
const LENGTH = 8;

/** Looks for parts of keys and passwords in all that a program writes. */
export class Secrets {
  readonly #checks: Checks;
  readonly #pattern: RegExp;
  /** Texts that were looked through, without their numbers: most differ only in these. */
  readonly #seen = new Set<string>();

  constructor(checks: Checks, secrets: readonly string[]) {
    this.#checks = checks;
    const parts = secrets.flatMap((secret) =>
      Array.from({ length: secret.length - LENGTH + 1 }, (_, at) => secret.slice(at, at + LENGTH)),
    );
    this.#pattern = new RegExp(parts.join("|"));
  }

  /** Looks through a text; `where` names it in the result. */
  check(where: string, text: string): void {
    const form = text.replaceAll(/\d+/g, "0");
    if (this.#seen.has(form)) return;
    this.#seen.add(form);
    this.#checks.expect(
      "secret",
      !this.#pattern.test(text),
      () => `a part of a key is in ${where}`,
    );
  }
}
