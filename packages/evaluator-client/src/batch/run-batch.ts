import { untilAborted } from "../clock.ts";
import { EvaluatorError } from "../errors.ts";
import type { Evaluation } from "../evaluation.ts";
import type {
  BatchItem,
  BatchLimits,
  BatchTotals,
  EvaluationBatch,
  RequestSource,
} from "../evaluator.ts";
import type { Questions } from "../questions/kinds.ts";
import type { EvaluationRequest } from "../questions/request.ts";
import { Semaphore } from "../semaphore.ts";

// With one call that waits for a minute, a fast batch goes on for this many outcomes, about 10 MB.
const MOST_BEHIND = 4096;

type Ask<TQuestions extends Questions> = (
  request: EvaluationRequest<TQuestions>,
) => Promise<Evaluation<TQuestions>>;

interface RunBatchOptions<TQuestions extends Questions> {
  readonly limits?: BatchLimits;
  readonly requests: RequestSource<TQuestions>;
  /** Ends the batch; its reason is thrown unchanged. */
  readonly signal: AbortSignal | undefined;
  /** Returns a function that asks one request, until the signal aborts. */
  readonly evaluateUntil: (signal: AbortSignal) => Ask<TQuestions>;
  /** Throws when no further request may be asked. */
  readonly checkOpen?: () => void;
  /** How long the longest wait still lasts, in milliseconds. */
  readonly waitMs?: () => number;
}

/** Asks many requests, `concurrency` at once; `readAhead` bounds its memory. */
export function runBatch<TQuestions extends Questions>(
  options: RunBatchOptions<TQuestions>,
): EvaluationBatch<TQuestions> {
  const { waitMs = () => 0 } = options;
  const counts = { succeeded: 0, failed: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 };
  const wait = { get: waitMs, enumerable: true };
  const totals = Object.defineProperty(counts as BatchTotals, "waitMs", wait);
  return Object.assign(giveOutcomes(options, totals), { totals });
}

async function* giveOutcomes<TQuestions extends Questions>(
  options: RunBatchOptions<TQuestions>,
  totals: BatchTotals,
): AsyncGenerator<BatchItem<TQuestions>, undefined> {
  const { signal } = options;
  const { concurrency = 8, readAhead = 16 * concurrency, order = "input" } = options.limits ?? {};
  signal?.throwIfAborted();
  const stop = new AbortController();
  const onAbort = () => stop.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  const reader = new OrderedReader(options.requests);
  const semaphore = new Semaphore(concurrency);
  const ask = options.evaluateUntil(stop.signal);
  const progress = { ...options, totals, reader, semaphore, ask, signal: stop.signal };
  const outcomes = new Outcomes<BatchItem<TQuestions>>(order, stop.signal);
  try {
    for (;;) {
      while (!reader.isOver && outcomes.hasRoom(readAhead)) outcomes.add(askNext(progress));
      const item = outcomes.take();
      if (item === null) return undefined;
      if (item === undefined) await outcomes.change();
      else yield item;
    }
  } finally {
    signal?.removeEventListener("abort", onAbort);
    stop.abort(new Error("The batch is over."));
    await reader.close();
  }
}

interface BatchProgress<TQuestions extends Questions> {
  readonly reader: OrderedReader<EvaluationRequest<TQuestions>>;
  readonly semaphore: Semaphore;
  readonly totals: BatchTotals;
  readonly ask: Ask<TQuestions>;
  readonly checkOpen?: (() => void) | undefined;
  readonly signal: AbortSignal;
}

/** Reads the next request and asks it; null at the end of the input. */
async function askNext<TQuestions extends Questions>(
  batch: BatchProgress<TQuestions>,
): Promise<BatchItem<TQuestions> | null> {
  const { semaphore } = batch;
  await semaphore.acquire();
  try {
    const next = await batch.reader.read(batch.signal);
    if (next === null) return null;
    batch.checkOpen?.();
    const item = await settle(next.index, batch.ask(next.item));
    count(item, batch.totals);
    return item;
  } finally {
    semaphore.release();
  }
}

async function settle<TQuestions extends Questions>(
  index: number,
  asked: Promise<Evaluation<TQuestions>>,
): Promise<BatchItem<TQuestions>> {
  try {
    return { index, status: "succeeded", evaluation: await asked };
  } catch (error) {
    // Anything else is the end of the batch, or a bug, and not an outcome of this request.
    if (!(error instanceof EvaluatorError)) throw error;
    return { index, status: "failed", error };
  }
}

function count(item: BatchItem, totals: BatchTotals): void {
  if (item.status === "failed") {
    totals.failed += 1;
    return;
  }
  totals.succeeded += 1;
  totals.inputTokens += item.evaluation.usage.inputTokens;
  totals.outputTokens += item.evaluation.usage.outputTokens;
  totals.costUsd += item.evaluation.costUsd ?? 0;
}

/** Reads a sync or async source item by item, no further than asked. */
class OrderedReader<TItem> {
  readonly #iterator: Iterator<TItem> | AsyncIterator<TItem>;
  #count = 0;
  #pending = 0;
  /** Whether the end of the source has been read. */
  isOver = false;

  constructor(source: Iterable<TItem> | AsyncIterable<TItem>) {
    this.#iterator =
      Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  }

  /** Returns the next item, or null at the end; rejects with the signal's reason once it aborts. */
  async read(signal: AbortSignal): Promise<{ index: number; item: TItem } | null> {
    signal.throwIfAborted();
    const index = this.#count;
    this.#count += 1;
    const next = this.#iterator.next();
    const result = "then" in next ? await untilAborted(this.#waitFor(next), signal) : next;
    if (!result.done) return { index, item: result.value };
    this.isOver = true;
    return null;
  }

  /** Ends the source, as no more is read, and waits for it unless it is still busy. */
  async close(): Promise<void> {
    const closed = Promise.resolve(this.#iterator.return?.()).catch(() => undefined);
    if (this.#pending === 0) await closed;
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

/** How a call ended; the value is null at the end of the input. */
type Outcome<TItem> = PromiseSettledResult<TItem | null>;

/** The outcomes of a batch on their way to its consumer, in input order or as the calls end. */
class Outcomes<TItem> {
  readonly #order: "input" | "completion";
  readonly #signal: AbortSignal;
  /** In input order with a place for each call; else only those that ended. */
  readonly #places: { outcome?: Outcome<TItem> }[] = [];
  #pending = 0;
  /** How many at the front have ended. */
  #ready = 0;
  readonly #failures: unknown[] = [];
  #wake: () => void = () => undefined;

  /** @param signal - Ends the waiting for outcomes: its reason is thrown at once. */
  constructor(order: "input" | "completion", signal: AbortSignal) {
    this.#order = order;
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#wake(), { once: true });
  }

  /** Whether another call may begin: few enough are in flight, and few enough wait behind a slower one. */
  hasRoom(readAhead: number): boolean {
    const behind = this.#order === "input" ? this.#places.length - this.#pending - this.#ready : 0;
    return this.#pending + this.#ready < readAhead && behind < MOST_BEHIND;
  }

  /** Adds a call that begins. */
  add(call: Promise<TItem | null>): void {
    this.#pending += 1;
    const place: { outcome?: Outcome<TItem> } = {};
    if (this.#order === "input") this.#places.push(place);
    const settle = (outcome: Outcome<TItem>) => {
      this.#pending -= 1;
      place.outcome = outcome;
      this.#settled(place, outcome);
      this.#wake();
    };
    call.then(
      (value) => settle({ status: "fulfilled", value }),
      (reason: unknown) => settle({ status: "rejected", reason }),
    );
  }

  /** Returns the next item, null at the end, or undefined while it is open. @throws the failure of a call. */
  take(): TItem | null | undefined {
    this.#signal.throwIfAborted();
    if (this.#ready > 0) {
      this.#ready -= 1;
      const outcome = this.#places.shift()?.outcome;
      if (outcome?.status === "rejected") throw outcome.reason;
      return outcome?.value;
    }
    if (this.#pending > 0) return undefined;
    if (this.#failures.length > 0) throw this.#failures[0];
    return null;
  }

  /** Waits until a call ends or the signal aborts. */
  change(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }

  #settled(place: { outcome?: Outcome<TItem> }, outcome: Outcome<TItem>): void {
    if (this.#order === "input") {
      while (this.#places[this.#ready]?.outcome !== undefined) this.#ready += 1;
    } else if (outcome.status === "rejected") this.#failures.push(outcome.reason);
    else if (outcome.value !== null) this.#ready = this.#places.push(place);
  }
}
