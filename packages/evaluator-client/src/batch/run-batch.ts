import * as z from "zod/mini";
import type { Clock } from "../clock.ts";
import { EvaluatorError } from "../errors.ts";
import { checkOptions } from "../options.ts";
import type { Evaluation } from "../evaluation.ts";
import type { Hooks } from "../hooks.ts";
import type { EvaluationRequest } from "../questions/request.ts";
import type { State } from "../questions/state.ts";
import type { Questions } from "../questions/kinds.ts";
import { Semaphore } from "../semaphore.ts";
import { OrderedReader } from "./ordered-reader.ts";
import { Outcomes } from "./outcomes.ts";

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

const countSchema = z
  .int("it is a whole number from 1")
  .check(z.minimum(1, "it is a whole number from 1"));

/** The options of a batch beside those of a call. */
export const batchLimitsSchema = z.object({
  concurrency: z.optional(countSchema),
  readAhead: z.optional(countSchema),
  order: z.optional(z.enum(["input", "completion"], `it is "input" or "completion"`)),
});
/** How many requests a batch handles at once, and the order of its outcomes. */
export interface BatchLimits {
  /** Requests in flight at once, at most. @default 8 */
  concurrency?: number;
  /**
   * Requests read from the input that are in flight, wait to be sent, or have an outcome that the
   * consumer can take. In input order, up to 4,096 more outcomes are kept behind a slower call.
   *
   * @default 16 times `concurrency`
   */
  readAhead?: number;
  /** Yields the outcomes in the order of the input, or as the calls end. @default "input" */
  order?: "input" | "completion";
}

type Ask<TQuestions extends Questions> = (
  request: EvaluationRequest<TQuestions>,
) => Promise<Evaluation<TQuestions>>;

/** The requests of a batch and how to ask them. */
export interface RunBatchOptions<TQuestions extends Questions> {
  readonly limits?: { [TOption in keyof BatchLimits]: BatchLimits[TOption] | undefined };
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

/**
 * Asks many requests, `concurrency` at once; `readAhead` bounds its memory.
 *
 * @throws ConfigurationError when an option is wrong.
 */
export function runBatch<TQuestions extends Questions>(
  options: RunBatchOptions<TQuestions>,
): EvaluationBatch<TQuestions> {
  const { waitMs = () => 0, limits = {} } = options;
  checkOptions(batchLimitsSchema, limits);
  const totals: BatchTotals = {
    succeeded: 0,
    failed: 0,
    inputTokens: 0,
    outputTokens: 0,
    costUsd: 0,
    get waitMs() {
      return waitMs();
    },
  };
  return Object.assign(giveOutcomes(options, totals), { totals });
}

async function* giveOutcomes<TQuestions extends Questions>(
  options: RunBatchOptions<TQuestions>,
  totals: BatchTotals,
): AsyncGenerator<BatchItem<TQuestions>, undefined> {
  const { requests, limits = {}, signal } = options;
  const { concurrency = 8, readAhead = 16 * concurrency, order = "input" } = limits;
  signal?.throwIfAborted();
  const stop = new AbortController();
  const onAbort = () => stop.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  const reader = new OrderedReader(requests);
  const semaphore = new Semaphore(concurrency);
  const ask = options.evaluateUntil(stop.signal);
  const { checkOpen } = options;
  const progress = { reader, semaphore, totals, ask, checkOpen, signal: stop.signal };
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
  readonly checkOpen: (() => void) | undefined;
  readonly signal: AbortSignal;
}

/** Reads the next request and asks it; null at the end of the input. */
async function askNext<TQuestions extends Questions>({
  reader,
  semaphore,
  totals,
  ask,
  checkOpen,
  signal,
}: BatchProgress<TQuestions>): Promise<BatchItem<TQuestions> | null> {
  await semaphore.acquire();
  try {
    const next = await reader.read(signal);
    if (next === null) return null;
    checkOpen?.();
    const item = await settle(next.index, ask(next.item));
    count(item, totals);
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

/** How long the longest wait of a batch's calls still lasts. */
export class WaitingTime implements Hooks {
  readonly #clock: Clock;
  #endsAtMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  onWait({ delayMs }: { delayMs: number | null }): void {
    this.#endsAtMs = Math.max(this.#endsAtMs, this.#clock.now() + (delayMs ?? 0));
  }

  get leftMs(): number {
    return Math.max(0, this.#endsAtMs - this.#clock.now());
  }
}
