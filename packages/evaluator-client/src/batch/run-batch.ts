import { untilAborted } from "../clock.ts";
import { EvaluatorError } from "../errors.ts";
import type { Evaluation } from "../evaluation.ts";
import type { Questions } from "../questions/kinds.ts";
import type { EvaluationRequest } from "../questions/request.ts";
import type { State } from "../questions/state.ts";
import { Semaphore } from "../semaphore.ts";

/** How many requests a batch handles at once, and the order of its outcomes. */
export interface BatchLimits {
  /** Requests in flight at once, at most. @default 8 */
  concurrency?: number;
  /**
   * Requests that are in flight, wait to be sent, or have an outcome to take. In input order, up to 4,096
   * more outcomes wait behind a slower call. @default 16 times `concurrency`
   */
  readAhead?: number;
  /** Yields the outcomes in the order of the input, or as the calls end. @default "input" */
  order?: "input" | "completion";
}

/** One request's outcome, with its position in the input from 0. */
export type BatchItem<TQuestions extends Questions = Questions> =
  | { index: number; status: "succeeded"; evaluation: Evaluation<TQuestions> }
  | { index: number; status: "failed"; error: EvaluatorError };

/** Totals of a batch so far. */
export interface BatchTotals {
  /** Requests answered. */
  succeeded: number;
  /** Requests given up. */
  failed: number;
  /** Input tokens of the answered requests. */
  inputTokens: number;
  /** Output tokens of the answered requests. */
  outputTokens: number;
  /** Price of the answered requests that report one, in US dollars. */
  costUsd: number;
  /** The rest of the longest current wait, in milliseconds; 0 if none is known. */
  waitMs: number;
}

/** Outcomes, one for each request, while later ones are still being asked. */
export interface EvaluationBatch<TQuestions extends Questions = Questions> extends AsyncGenerator<
  BatchItem<TQuestions>,
  undefined
> {
  /** The outcomes so far, those included that wait to be taken. */
  readonly totals: Readonly<BatchTotals>;
}

/** The requests of a batch; it may be endless, and is read only as far as needed. */
export type RequestSource<TQuestions extends Questions = Questions, TState = State> =
  | Iterable<EvaluationRequest<TQuestions, TState>>
  | AsyncIterable<EvaluationRequest<TQuestions, TState>>;

// With one call that waits for a minute, a fast batch goes on for this many outcomes, about 10 MB.
const MOST_BEHIND = 4096;

interface RunBatchOptions {
  readonly limits?: BatchLimits;
  readonly requests: RequestSource;
  /** Ends the batch; its reason is thrown unchanged. */
  readonly signal: AbortSignal | undefined;
  /** Returns a function that asks one request, until the signal aborts. */
  readonly evaluateUntil: (
    signal: AbortSignal,
  ) => (request: EvaluationRequest) => Promise<Evaluation>;
  /** Throws when no further request may be asked. */
  readonly checkOpen?: () => void;
  /** How long the longest wait still lasts, in milliseconds. */
  readonly waitMs?: () => number;
}

/** Asks many requests, `concurrency` at once; `readAhead` bounds its memory. */
export function runBatch(options: RunBatchOptions): EvaluationBatch {
  const counts = { succeeded: 0, failed: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 };
  const waitMs = { get: options.waitMs ?? (() => 0), enumerable: true };
  const totals = Object.defineProperty(counts as BatchTotals, "waitMs", waitMs);
  return Object.assign(giveOutcomes(options, totals), { totals });
}

async function* giveOutcomes(
  options: RunBatchOptions,
  totals: BatchTotals,
): AsyncGenerator<BatchItem, undefined> {
  const { signal } = options;
  const { concurrency = 8, readAhead = 16 * concurrency, order = "input" } = options.limits ?? {};
  signal?.throwIfAborted();
  const stop = new AbortController();
  const onAbort = () => stop.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  const reader = readerOf(options.requests, stop.signal);
  const semaphore = new Semaphore(concurrency);
  const ask = options.evaluateUntil(stop.signal);
  const outcomes = new Outcomes(order, stop.signal);
  /** Reads the next request and asks it; null at the end of the input. */
  const askNext = async () => {
    const next = await reader.read();
    if (next === null) return null;
    options.checkOpen?.();
    // Awaited: a promise that is returned takes two more turns.
    return await settle(next.index, ask(next.item), totals);
  };
  try {
    for (;;) {
      while (!reader.isOver && outcomes.hasRoom(readAhead)) outcomes.add(semaphore.run(askNext));
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

async function settle(
  index: number,
  asked: Promise<Evaluation>,
  totals: BatchTotals,
): Promise<BatchItem> {
  try {
    const evaluation = await asked;
    totals.succeeded += 1;
    totals.inputTokens += evaluation.usage.inputTokens;
    totals.outputTokens += evaluation.usage.outputTokens;
    totals.costUsd += evaluation.costUsd ?? 0;
    return { index, status: "succeeded", evaluation };
  } catch (error) {
    // Anything else is the end of the batch, or a bug, and not an outcome of this request.
    if (!(error instanceof EvaluatorError)) throw error;
    totals.failed += 1;
    return { index, status: "failed", error };
  }
}

/** Reads a sync or async source item by item, no further than asked; the signal ends it at once. */
function readerOf<TItem>(source: Iterable<TItem> | AsyncIterable<TItem>, signal: AbortSignal) {
  const iterator =
    Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  let count = 0;
  let pending = 0;
  return {
    isOver: false,

    async read(): Promise<{ index: number; item: TItem } | null> {
      signal.throwIfAborted();
      const index = count;
      count += 1;
      let result = iterator.next();
      if ("then" in result) {
        pending += 1;
        const ended = Promise.resolve(result).finally(() => (pending -= 1));
        result = await untilAborted(ended, signal);
      }
      if (!result.done) return { index, item: result.value };
      this.isOver = true;
      return null;
    },

    /** Ends the source, as no more is read, and waits for it unless it is still busy. */
    async close(): Promise<void> {
      const closed = Promise.resolve(iterator.return?.()).catch(() => undefined);
      if (pending === 0) await closed;
    },
  };
}

/** How a call ended, once it has; the value is null at the end of the input. */
interface Place {
  outcome?: PromiseSettledResult<BatchItem | null>;
}

/** The outcomes of a batch on their way to its consumer, in input order or as the calls end. */
class Outcomes {
  readonly #order: "input" | "completion";
  readonly #signal: AbortSignal;
  /** In input order with a place for each call; else the items that are ready, then the failures. */
  readonly #places: Place[] = [];
  #pending = 0;
  /** How many at the front have ended. */
  #ready = 0;
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

  add(call: Promise<BatchItem | null>): void {
    this.#pending += 1;
    const place: Place = {};
    if (this.#order === "input") this.#places.push(place);
    call.then(
      (value) => this.#settle(place, { status: "fulfilled", value }),
      (reason: unknown) => this.#settle(place, { status: "rejected", reason }),
    );
  }

  /** Returns the next item, null at the end, or undefined while it is open. @throws the failure of a call. */
  take(): BatchItem | null | undefined {
    this.#signal.throwIfAborted();
    if (this.#ready > 0) this.#ready -= 1;
    else if (this.#pending > 0) return undefined;
    const outcome = this.#places.shift()?.outcome;
    if (outcome?.status === "rejected") throw outcome.reason;
    return outcome?.value ?? null;
  }

  /** Waits until a call ends or the signal aborts. */
  change(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }

  #settle(place: Place, outcome: NonNullable<Place["outcome"]>): void {
    this.#pending -= 1;
    place.outcome = outcome;
    if (this.#order === "input") {
      while (this.#places[this.#ready]?.outcome !== undefined) this.#ready += 1;
    } else if (outcome.status === "rejected") {
      this.#places.push(place);
    } else if (outcome.value !== null) {
      this.#places.splice(this.#ready, 0, place);
      this.#ready += 1;
    }
    this.#wake();
  }
}
