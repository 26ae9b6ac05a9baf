/** A fixed number of slots, acquired in the order of asking. */
export class Semaphore {
  #free: number;
  readonly #queue: (() => void)[] = [];

  constructor(slots: number) {
    this.#free = slots;
  }

  // Not async: one that had to wait would go on some turns later than one that asked after it.
  acquire(): Promise<void> {
    if (this.#free === 0) return new Promise((resolve) => this.#queue.push(resolve));
    this.#free -= 1;
    return Promise.resolve();
  }

  /** Passes the slot on to whoever waits longest. */
  release(): void {
    const next = this.#queue.shift();
    if (next) next();
    else this.#free += 1;
  }
}
