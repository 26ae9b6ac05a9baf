/** Outcomes that are on their way, given in one order or another; null stands for the end. */
export interface Outcomes<TItem> {
  /** How many are on their way or wait to be taken. */
  readonly size: number;
  add(outcome: Promise<TItem | null>): void;
  /** The next one, or null when there is none any more. */
  next(): Promise<TItem | null>;
}

/** Yields outcomes in the order in which they were added. */
export class InputOrder<TItem> implements Outcomes<TItem> {
  readonly #outcomes: Promise<TItem | null>[] = [];

  get size(): number {
    return this.#outcomes.length;
  }

  add(outcome: Promise<TItem | null>): void {
    // A rejection that nobody has awaited yet must not end the process.
    outcome.catch(() => undefined);
    this.#outcomes.push(outcome);
  }

  async next(): Promise<TItem | null> {
    return (await this.#outcomes.shift()) ?? null;
  }
}

/** Yields outcomes as they come, and the first failure after all of them. */
export class CompletionOrder<TItem> implements Outcomes<TItem> {
  readonly #items: TItem[] = [];
  readonly #signal: AbortSignal;
  #pending = 0;
  #failures: unknown[] = [];
  #wake: () => void = () => undefined;

  /** @param signal - Ends the waiting for outcomes: its reason is thrown at once. */
  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#wake(), { once: true });
  }

  get size(): number {
    return this.#pending + this.#items.length;
  }

  add(outcome: Promise<TItem | null>): void {
    this.#pending += 1;
    outcome
      .then(
        (item) => item !== null && this.#items.push(item),
        (failure: unknown) => this.#failures.push(failure),
      )
      .finally(() => {
        this.#pending -= 1;
        this.#wake();
      });
  }

  async next(): Promise<TItem | null> {
    for (;;) {
      this.#signal.throwIfAborted();
      const item = this.#items.shift();
      if (item !== undefined) return item;
      if (this.#pending === 0) return this.#end();
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  #end(): null {
    if (this.#failures.length > 0) throw this.#failures[0];
    return null;
  }
}
