/** A fixed number of slots, taken in the order of asking. */
export class Semaphore {
  #free: number;
  readonly #queue: (() => void)[] = [];

  constructor(slots: number) {
    this.#free = slots;
  }

  /** Runs a task as soon as a slot is free; after it, the slot goes to whoever waits longest. */
  async run<TValue>(task: () => Promise<TValue>): Promise<TValue> {
    // Awaited with a free slot too: else one that asks later would start before one that has waited.
    await this.#acquire();
    try {
      return await task();
    } finally {
      const next = this.#queue.shift();
      if (next) next();
      else this.#free += 1;
    }
  }

  #acquire(): Promise<void> {
    if (this.#free === 0) return new Promise((resolve) => this.#queue.push(resolve));
    this.#free -= 1;
    return Promise.resolve();
  }
}
