interface Timer {
  readonly atMs: number;
  /** Timers of the same time fire in the order in which they were scheduled. */
  readonly order: number;
  callback: (() => void) | null;
}

// Node settles promises after each immediate, and many in one turn of its loop cost a third less.
const STEPS_A_TURN = 100;

/**
 * The time of a simulation, in milliseconds from 0. It moves to the next timer after a turn of the
 * event loop in which nothing was scheduled, and when no operation outside is awaited.
 */
export class VirtualTime {
  nowMs = 0;
  /** A heap: the next timer is the first. */
  readonly #timers: Timer[] = [];
  #scheduled = 0;
  #seen = 0;
  #outside = 0;
  #isStuck = false;
  #failure: { readonly error: unknown } | null = null;

  /** Calls back once after a delay; the returned function cancels. */
  schedule(delayMs: number, callback: () => void): () => void {
    const timer: Timer = { atMs: this.nowMs + delayMs, order: this.#scheduled, callback };
    this.#scheduled += 1;
    if (delayMs !== Number.POSITIVE_INFINITY) push(this.#timers, timer);
    return () => (timer.callback = null);
  }

  /** Resolves after a delay. */
  async wait(delayMs: number): Promise<void> {
    await new Promise<void>((resolve) => this.schedule(delayMs, resolve));
  }

  /** Awaits an operation of other threads or of the system; time stands still until it ends. */
  async outside<TValue>(operation: Promise<TValue>): Promise<TValue> {
    this.#outside += 1;
    try {
      return await operation;
    } finally {
      this.#outside -= 1;
      this.#scheduled += 1;
    }
  }

  /** Moves from timer to timer until `isOver`; returns false if no timer is left before. @throws what a callback throws */
  async run(isOver: () => boolean): Promise<boolean> {
    const isEnd = () => this.#isStuck || this.#failure !== null || isOver();
    const step = () => {
      if (!isEnd() && this.#isSettled()) this.#isStuck = !this.#runNext();
    };
    this.#isStuck = false;
    while (!isEnd()) {
      await new Promise<void>((resolve) => {
        for (let index = 1; index < STEPS_A_TURN; index += 1) setImmediate(step);
        setImmediate(resolve);
      });
    }
    if (this.#failure !== null) throw this.#failure.error;
    return isOver();
  }

  /** Returns whether the turn before brought no new work. */
  #isSettled(): boolean {
    const isSettled = this.#outside === 0 && this.#seen === this.#scheduled;
    this.#seen = this.#scheduled;
    return isSettled;
  }

  #runNext(): boolean {
    for (let next = pop(this.#timers); next !== undefined; next = pop(this.#timers)) {
      const { callback } = next;
      if (callback === null) continue;
      this.nowMs = Math.max(this.nowMs, next.atMs);
      try {
        callback();
      } catch (error) {
        this.#failure = { error };
      }
      return true;
    }
    return false;
  }
}

function isBefore(one: Timer, other: Timer): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);
}

function push(heap: Timer[], timer: Timer): void {
  let at = heap.push(timer) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!isBefore(timer, heap[parent] as Timer)) break;
    heap[at] = heap[parent] as Timer;
    at = parent;
  }
  heap[at] = timer;
}

function pop(heap: Timer[]): Timer | undefined {
  const [first] = heap;
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return first;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBefore(heap[child + 1] as Timer, heap[child] as Timer)) {
      child += 1;
    }
    if (!isBefore(heap[child] as Timer, last)) break;
    heap[at] = heap[child] as Timer;
    at = child;
  }
  heap[at] = last;
  return first;
}
