/** A fixed number of slots, acquired in the order of asking. */
export class Semaphore {
  #free: number;
  readonly #queue: (() => void)[] = [];

  constructor(slots: number) {
    this.#free = slots;
  }

  async acquire(): Promise<void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#queue.push(resolve));
  }

  /** Passes the slot on to whoever waits longest. */
  release(): void {
    const next = this.#queue.shift();
    if (next) next();
    else this.#free += 1;
  }
}
