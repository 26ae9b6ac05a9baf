/** One item of a source, with its place from 0. */
export interface ReadItem<TItem> {
  readonly index: number;
  readonly item: TItem;
}

/** Reads a sync or async source item by item, no further than asked. */
export class OrderedReader<TItem> {
  readonly #iterator: Iterator<TItem> | AsyncIterator<TItem>;
  #count = 0;
  #pending = 0;
  #isOver = false;

  constructor(source: Iterable<TItem> | AsyncIterable<TItem>) {
    this.#iterator =
      Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  }

  /** Whether the end of the source has been read. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * The next item, or null at the end: at once where the source is sync, else a promise that rejects
   * with the signal's reason once it aborts.
   */
  read(signal: AbortSignal): ReadItem<TItem> | null | Promise<ReadItem<TItem> | null> {
    signal.throwIfAborted();
    const index = this.#count;
    this.#count += 1;
    const next = this.#next();
    if (!(next instanceof Promise)) return this.#take(index, next);
    return untilAborted(next, signal).then((result) => this.#take(index, result));
  }

  #take(index: number, { done, value }: IteratorResult<TItem>): ReadItem<TItem> | null {
    if (done !== true) return { index, item: value };
    this.#isOver = true;
    return null;
  }

  /** Tells the source that no more is read, and waits for it unless it is still busy. */
  async close(): Promise<void> {
    const closed = Promise.resolve(this.#iterator.return?.()).catch(() => undefined);
    if (this.#pending === 0) await closed;
  }

  #next(): IteratorResult<TItem> | Promise<IteratorResult<TItem>> {
    const next = this.#iterator.next();
    return "then" in next ? this.#waitFor(next) : next;
  }

  async #waitFor(next: Promise<IteratorResult<TItem>>): Promise<IteratorResult<TItem>> {
    this.#pending += 1;
    try {
      return await next;
    } finally {
      this.#pending -= 1;
    }
  }
}

/** Settles as the promise does, or rejects with the signal's reason once it aborts; leaves no listener. */
export function untilAborted<TValue>(
  promise: Promise<TValue>,
  signal: AbortSignal,
): Promise<TValue> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
