import { createHash } from "node:crypto";

// A hash of each line for itself would take twice as long.
const MOST_CHARACTERS = 16_384;

/** What happened in a simulation, in order: the same seed gives the same trace. */
export class Trace {
  readonly #hash = createHash("sha256");
  /** The last lines, which are hashed together. */
  #lines = "";
  readonly #onLine: ((line: string) => void) | null;

  /** @param onLine - Is called with each line. */
  constructor(onLine: ((line: string) => void) | null = null) {
    this.#onLine = onLine;
  }

  /** Adds an event at a time in milliseconds. Its parts contain no path, real time or machine name. */
  add(atMs: number, ...parts: readonly (string | number | null)[]): void {
    const line = `${atMs.toFixed(3)} ${parts.join(" ")}`;
    this.#lines += `${line}\n`;
    if (this.#lines.length > MOST_CHARACTERS) this.#hashLines();
    this.#onLine?.(line);
  }

  /** Returns the hash of all events so far: SHA-256, 64 hexadecimal digits. */
  digest(): string {
    this.#hashLines();
    return this.#hash.copy().digest("hex");
  }

  #hashLines(): void {
    this.#hash.update(this.#lines);
    this.#lines = "";
  }
}
