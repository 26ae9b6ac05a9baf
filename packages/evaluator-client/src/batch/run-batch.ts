import type { Evaluation, EvaluationRequest } from "../evaluation.ts";
import { ConfigurationError, EvaluatorError } from "../errors.ts";
import type { Questions } from "../questions/question.ts";
import type { BatchItem, BatchTotals, EvaluationBatch, RequestSource } from "./batch.ts";
import { OrderedReader } from "./ordered-reader.ts";
import { Places } from "./places.ts";

type Ask<TQuestions extends Questions> = (
  request: EvaluationRequest<TQuestions>,
) => Promise<Evaluation<TQuestions>>;

/** What a batch asks, and how. */
export interface RunBatchOptions<TQuestions extends Questions> {
  readonly requests: RequestSource<TQuestions>;
  /** Requests in flight at once, at most. */
  readonly concurrency: number;
  /** Ends the batch; its reason is thrown as it is. */
  readonly signal: AbortSignal | undefined;
  /** Gives what asks one request, until the signal aborts. */
  readonly evaluateUntil: (signal: AbortSignal) => Ask<TQuestions>;
}

/**
 * Asks many requests, `concurrency` at once, and gives the outcomes in input order. At most twice
 * as many are ahead of the consumer, in flight or answered, so memory stays bounded.
 *
 * @throws ConfigurationError when the concurrency is not a whole number from 1.
 */
export function runBatch<TQuestions extends Questions>(
  options: RunBatchOptions<TQuestions>,
): EvaluationBatch<TQuestions> {
  if (!Number.isInteger(options.concurrency) || options.concurrency < 1) {
    const message = `The option "concurrency" is a whole number from 1.`;
    throw new ConfigurationError(message, { option: "concurrency" });
  }
  const totals = { succeeded: 0, failed: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 };
  return Object.assign(giveInOrder(options, totals), { totals });
}

async function* giveInOrder<TQuestions extends Questions>(
  options: RunBatchOptions<TQuestions>,
  totals: BatchTotals,
): AsyncGenerator<BatchItem<TQuestions>, undefined> {
  const { requests, concurrency, signal } = options;
  signal?.throwIfAborted();
  const stop = new AbortController();
  const onAbort = () => stop.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  const reader = new OrderedReader(requests);
  const places = new Places(concurrency);
  const ask = options.evaluateUntil(stop.signal);
  const progress = { reader, places, totals, ask, signal: stop.signal };
  const ahead: Promise<BatchItem<TQuestions> | null>[] = [];
  try {
    for (;;) {
      while (ahead.length < 2 * concurrency) ahead.push(handled(askNext(progress)));
      const item = await ahead.shift();
      if (!item) return undefined;
      yield item;
    }
  } finally {
    signal?.removeEventListener("abort", onAbort);
    stop.abort(new Error("The batch is over."));
    await reader.close();
  }
}

interface BatchProgress<TQuestions extends Questions> {
  readonly reader: OrderedReader<EvaluationRequest<TQuestions>>;
  readonly places: Places;
  readonly totals: BatchTotals;
  readonly ask: Ask<TQuestions>;
  readonly signal: AbortSignal;
}

/** Reads the next request and asks it; null at the end of the input. */
async function askNext<TQuestions extends Questions>({
  reader,
  places,
  totals,
  ask,
  signal,
}: BatchProgress<TQuestions>): Promise<BatchItem<TQuestions> | null> {
  await places.take();
  try {
    const next = await reader.read(signal);
    if (next === null) return null;
    const item = await settle(next.index, ask(next.item));
    count(item, totals);
    return item;
  } finally {
    places.giveBack();
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

/** Keeps a rejection that nobody has awaited yet from ending the process. */
function handled<TValue>(promise: Promise<TValue>): Promise<TValue> {
  promise.catch(() => undefined);
  return promise;
}
