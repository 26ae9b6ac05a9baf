import type { Defined } from "../options.ts";
import { EvaluatorError } from "../errors.ts";
import type { Evaluation } from "../evaluation.ts";
import type { Questions } from "../questions/kinds.ts";
import type { EvaluationRequest } from "../questions/request.ts";
import type { State } from "../questions/state.ts";

/** How many requests a batch handles at once, and the order of its outcomes. */
export interface BatchLimits {
  /** Requests in flight at once, at most. @default 8 */
  concurrency?: number | undefined;
  /**
   * Requests that are in flight, wait to be sent, or have an outcome to take. In input order, up to 4,096
   * more outcomes wait behind a slower call. @default 16 times `concurrency`
   */
  readAhead?: number | undefined;
  /** Yields the outcomes in the order of the input, or as the calls end. @default "input" */
  order?: "input" | "completion" | undefined;
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
  const { concurrency = 8, readAhead = 16 * concurrency, order = "input" } = options.limits ?? {};
  const limits = { concurrency, readAhead, order };
  return Object.assign(giveOutcomes({ ...options, limits }, totals), { totals });
}

async function* giveOutcomes(
  options: RunBatchOptions & { readonly limits: Defined<BatchLimits> },
  totals: BatchTotals,
): AsyncGenerator<BatchItem, undefined> {
  const { signal, limits } = options;
  signal?.throwIfAborted();
  const stop = new AbortController();
  const onAbort = () => stop.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  const evaluate = options.evaluateUntil(stop.signal);
  const ask = async (index: number, request: EvaluationRequest) => {
    options.checkOpen?.();
    // Awaited: a promise that is returned takes two more turns.
    return await settle(index, evaluate(request), totals);
  };
  const outcomes = new Outcomes(limits, stop.signal, () => reader.read());
  const reader = new Reader(options.requests, outcomes, ask);
  try {
    for (;;) {
      reader.read();
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
  evaluationPromise: Promise<Evaluation>,
  totals: BatchTotals,
): Promise<BatchItem> {
  try {
    const evaluation = await evaluationPromise;
    totals.succeeded += 1;
    totals.inputTokens += evaluation.usage?.inputTokens ?? 0;
    totals.outputTokens += evaluation.usage?.outputTokens ?? 0;
    totals.costUsd += evaluation.costUsd ?? 0;
    return { index, status: "succeeded", evaluation };
  } catch (error) {
    // Anything else is the end of the batch, or a bug, and not an outcome of this request.
    if (!(error instanceof EvaluatorError)) throw error;
    totals.failed += 1;
    return { index, status: "failed", error };
  }
}

/**
 * Reads a source, sync or async, while the outcomes have room. Each request is asked before the next one is
 * read, since a source may use one object for all of them.
 */
class Reader<TItem> {
  readonly #iterator: Iterator<TItem> | AsyncIterator<TItem>;
  readonly #outcomes: Outcomes;
  readonly #ask: (index: number, item: TItem) => Promise<BatchItem>;
  #count = 0;
  #isReading = false;

  constructor(
    source: Iterable<TItem> | AsyncIterable<TItem>,
    outcomes: Outcomes,
    ask: (index: number, item: TItem) => Promise<BatchItem>,
  ) {
    this.#iterator =
      Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
    this.#outcomes = outcomes;
    this.#ask = ask;
  }

  read(): void {
    while (!this.#isReading && this.#outcomes.hasRoom) this.#readOne();
  }

  #readOne(): void {
    try {
      this.#isReading = true;
      const result = this.#iterator.next();
      if ("then" in result) void this.#await(result);
      else this.#take(result);
    } catch (error) {
      this.#fail(error);
    }
  }

  async #await(pending: Promise<IteratorResult<TItem>>): Promise<void> {
    try {
      this.#take(await pending);
    } catch (error) {
      this.#fail(error);
    }
    this.read();
  }

  #take(result: IteratorResult<TItem>): void {
    this.#isReading = false;
    if (result.done) return this.#outcomes.endInput();
    this.#outcomes.add(this.#ask(this.#count, result.value));
    this.#count += 1;
  }

  #fail(reason: unknown): void {
    this.#isReading = false;
    this.#outcomes.add(Promise.reject(reason));
    this.#outcomes.endInput();
  }

  /** Ends the source, as no more is read, and waits for it unless it is still busy. */
  async close(): Promise<void> {
    const closedPromise = Promise.resolve(this.#iterator.return?.()).catch(() => undefined);
    if (!this.#isReading) await closedPromise;
  }
}

/** How a call ended, once it has. */
interface Place {
  outcome?: PromiseSettledResult<BatchItem>;
}

/** The outcomes of a batch on their way to its consumer, in input order or as the calls end. */
class Outcomes {
  readonly #limits: Defined<BatchLimits>;
  readonly #signal: AbortSignal;
  readonly #onRoom: () => void;
  /** In input order with a place for each call; else the items that are ready, then the failures. */
  readonly #places: Place[] = [];
  #pending = 0;
  /** How many at the front have ended. */
  #ready = 0;
  #isInputOver = false;
  #wake: () => void = () => undefined;

  /**
   * @param signal - Ends the waiting for outcomes: its reason is thrown at once.
   * @param onRoom - Called when a call has ended.
   */
  constructor(limits: Defined<BatchLimits>, signal: AbortSignal, onRoom: () => void) {
    this.#limits = limits;
    this.#signal = signal;
    this.#onRoom = onRoom;
    signal.addEventListener("abort", () => this.#wake(), { once: true });
  }

  /** Whether another call may begin: few enough are in flight, and few enough wait behind a slower one. */
  get hasRoom(): boolean {
    if (this.#isInputOver || this.#signal.aborted) return false;
    const { concurrency, readAhead, order } = this.#limits;
    const behind = order === "input" ? this.#places.length - this.#pending - this.#ready : 0;
    return (
      this.#pending < concurrency && this.#pending + this.#ready < readAhead && behind < MOST_BEHIND
    );
  }

  add(call: Promise<BatchItem>): void {
    this.#pending += 1;
    const place: Place = {};
    if (this.#limits.order === "input") this.#places.push(place);
    call.then(
      (value) => this.#settle(place, { status: "fulfilled", value }),
      (reason: unknown) => this.#settle(place, { status: "rejected", reason }),
    );
  }

  endInput(): void {
    this.#isInputOver = true;
    this.#wake();
  }

  /** Returns the next item, null at the end, or undefined while it is open. @throws the failure of a call. */
  take(): BatchItem | null | undefined {
    this.#signal.throwIfAborted();
    if (this.#ready > 0) this.#ready -= 1;
    else if (this.#pending > 0 || !this.#isInputOver) return undefined;
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
    if (this.#limits.order === "input") {
      while (this.#places[this.#ready]?.outcome !== undefined) this.#ready += 1;
    } else if (outcome.status === "rejected") {
      this.#places.push(place);
      this.#isInputOver = true;
    } else {
      this.#places.splice(this.#ready, 0, place);
      this.#ready += 1;
    }
    this.#wake();
    this.#onRoom();
  }
}
