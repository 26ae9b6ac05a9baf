import { createHash } from "node:crypto";

/** What happened in a simulation, in order: the same seed gives the same trace. */
export class Trace {
  readonly #hash = createHash("sha256");
  readonly #onLine: ((line: string) => void) | null;

  /** @param onLine - Is called with each line. */
  constructor(onLine: ((line: string) => void) | null = null) {
    this.#onLine = onLine;
  }

  /** Adds an event at a time in milliseconds. Its parts contain no path, real time or machine name. */
  add(atMs: number, ...parts: readonly (string | number | null)[]): void {
    const line = `${atMs.toFixed(3)} ${parts.join(" ")}`;
    this.#hash.update(`${line}\n`);
    this.#onLine?.(line);
  }

  /** Returns the hash of all events so far: SHA-256, 64 hexadecimal digits. */
  digest(): string {
    return this.#hash.copy().digest("hex");
  }
}
