import { untilAborted } from "../clock.ts";

/** One item of a source, with its position from 0. */
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

  /** The next item, or null at the end; rejects with the signal's reason once it aborts. */
  async read(signal: AbortSignal): Promise<ReadItem<TItem> | null> {
    signal.throwIfAborted();
    const index = this.#count;
    this.#count += 1;
    const next = this.#next();
    // An item of a sync source is available, so no wait can be aborted.
    const result = next instanceof Promise ? await untilAborted(next, signal) : next;
    if (!result.done) return { index, item: result.value };
    this.#isOver = true;
    return null;
  }

  /** Ends the source, as no more is read, and waits for it unless it is still busy. */
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
