/// <reference lib="esnext.disposable" preserve="true" />
import {
  type EvaluationBatch,
  type RequestSource,
  type BatchLimits,
  runBatch,
  WaitingTime,
} from "./batch/run-batch.ts";
import { elapsedMs, type EvaluatorRuntime, systemClock } from "./clock.ts";
import { ConfigurationError } from "./errors.ts";
import type { Evaluation } from "./evaluation.ts";
import {
  type CallLimits,
  defaultCallLimits,
  type EvaluatorOptions,
  readCallLimits,
  readOptions,
} from "./evaluator-options.ts";
import { type Hooks, joinHooks } from "./hooks.ts";
import { type CallLines, CallLog, warnOfLongState } from "./logger.ts";
import {
  estimateTokens,
  isSurelyTooLong,
  type EvaluationRequest,
  requestParser,
} from "./questions/request.ts";
import type { StateOf } from "./questions/json.ts";
import type { Questions } from "./questions/question.ts";
import { type Middleware, throughMiddleware } from "./middleware/middleware.ts";
import type { CallEstimate } from "./transports/transport.ts";
import { type RetryPolicy, withRetries } from "./retry/with-retries.ts";
import { checkReply, toEvaluation } from "./to-evaluation.ts";
import type { AttemptContext } from "./retry/attempt.ts";

/** Options of one call. */
export interface EvaluateOptions extends CallLimits {
  /** Ends the call at once; its reason is thrown as it is. */
  signal?: AbortSignal;
  /** Sent with the call's requests beside the transport's own, of which they replace none; for a request id or `traceparent`. */
  headers?: Readonly<Record<string, string>>;
}

/** Options of a batch. */
export interface EvaluateManyOptions extends EvaluateOptions, BatchLimits {}

/** Asks typed questions about a state. */
export interface Evaluator extends AsyncDisposable {
  /**
   * Asks all questions about one state in one request, and checks every answer.
   *
   * @throws {InvalidRequestError} before sending, when the request cannot be answered as written.
   * @throws {StatusError} when the service answers with an error status, after retries.
   * @throws {ConnectionError} when no usable response arrives, after retries or in time.
   * @throws {InvalidResponseError} when the answers break the contract.
   * @throws {RefusalError} when the model declines to answer.
   */
  evaluate<const TQuestions extends Questions, TState extends string | object>(
    request: EvaluationRequest<TQuestions, TState & StateOf<TState>>,
    options?: EvaluateOptions,
  ): Promise<Evaluation<TQuestions>>;

  /**
   * Asks many requests, a few at once, and gives each outcome, in input order unless told otherwise;
   * one failure never ends the batch. The input is read only as far as needed, so it may be longer
   * than memory.
   *
   * @throws {ConfigurationError} when an option is wrong.
   * @example
   * ```ts
   * for await (const item of evaluator.evaluateMany(requests, { concurrency: 16 })) {
   *   if (item.status === "failed") console.error(item.index, item.error.message);
   *   else console.log(item.index, item.evaluation.answers);
   * }
   * ```
   */
  evaluateMany<const TQuestions extends Questions, TState extends string | object>(
    requests: RequestSource<TQuestions, TState & StateOf<TState>>,
    options?: EvaluateManyOptions,
  ): EvaluationBatch<TQuestions>;

  /**
   * Returns an evaluator whose calls go through a middleware first, and then through those that were
   * there; connections, limits and pauses are shared with this one, which stays as it is.
   *
   * @throws {ConfigurationError} when it is no function.
   */
  with(middleware: Middleware): Evaluator;

  /**
   * Waits for the calls in flight, then closes the connections of its transport. From then on a call
   * is refused with a `ConfigurationError`, and a batch ends with one.
   */
  close(): Promise<void>;
}

// Of 10,000 calls that a service throttles at random, one in twenty, three retries lose none.
const freeRetriesInBatch = 3;

/**
 * Makes an evaluator.
 *
 * @throws {ConfigurationError} when a key is missing or an option is wrong.
 * @example
 * ```ts
 * const evaluator = createEvaluator();
 * const { answers } = await evaluator.evaluate({
 *   state: "Your invoice is attached.",
 *   questions: { scam: boolean("Does it look like a scam?") },
 * });
 * console.log(answers.scam.probability);
 * ```
 */
export function createEvaluator(
  options: EvaluatorOptions = {},
  { clock = systemClock, random = Math.random }: EvaluatorRuntime = {},
): Evaluator {
  const { transport, pacer, questionLimits, callLimits } = readOptions(options, { clock, random });
  const { tracing, logger } = options;
  const parseRequest = requestParser(questionLimits, transport.images);
  const log = logger === undefined ? null : new CallLog(logger);
  const ownHooks = joinHooks(options);
  const runtime = { pacer, hooks: ownHooks, clock, random, signal: undefined };
  const ownPolicy = { ...defaultCallLimits, ...callLimits, ...runtime };
  // In a batch, waiting for the service's limit is the work.
  const deadlineMs = callLimits.deadlineMs ?? Number.POSITIVE_INFINITY;
  const batchPolicy = { ...ownPolicy, deadlineMs, freeRetries: freeRetriesInBatch };
  const calls = new OpenCalls(() => transport.close?.());

  const estimate = (request: EvaluationRequest): CallEstimate =>
    transport.estimate?.(request) ?? { calls: 1, inputTokens: estimateTokens(request) };
  const tokensOf = (request: EvaluationRequest) => {
    const { calls: requests, inputTokens } = estimate(request);
    return inputTokens / Math.max(1, requests);
  };

  function trace(request: EvaluationRequest, policy: RetryPolicy): Promise<Evaluation> {
    if (isSurelyTooLong(request.state)) warnOfLongState(logger);
    if (tracing === undefined) return send(request, policy);
    const run = (own: Hooks) => send(request, { ...policy, hooks: joinHooks(policy.hooks, own) });
    return tracing({ request, transport }, run);
  }

  async function send(request: EvaluationRequest, policy: RetryPolicy): Promise<Evaluation> {
    const { questions } = request;
    const startedAtMs = clock.now();
    const attempt = async (context: AttemptContext) => {
      const reply = await transport.send(request, context);
      const response = checkReply(reply, questions);
      const { inputTokens } = response.usage;
      return { value: { reply, response }, status: reply.status ?? null, tokensUsed: inputTokens };
    };
    const tokens = pacer.countsTokens ? tokensOf(request) : 0;
    const { value, attempts } = await withRetries(attempt, policy, tokens);
    const timing = { totalMs: elapsedMs(clock, startedAtMs), attempts };
    const { name } = transport;
    return toEvaluation(value.response, { reply: value.reply, transport: name, questions, timing });
  }

  function evaluatorThrough(chain: readonly Middleware[]): Evaluator {
    async function evaluate(
      given: EvaluationRequest,
      basePolicy: RetryPolicy,
      callOptions?: EvaluateOptions,
    ): Promise<Evaluation> {
      calls.begin();
      try {
        const policy = withOptions(basePolicy, callOptions);
        if (log === null) return await ask(given, policy);
        const lines = log.begin();
        const hooks = joinHooks(policy.hooks, lines);
        return await logged(lines, () => ask(given, { ...policy, hooks }));
      } finally {
        calls.end();
      }
    }

    function ask(given: EvaluationRequest, policy: RetryPolicy): Promise<Evaluation> {
      policy.signal?.throwIfAborted();
      const request = parseRequest(given);
      if (chain.length === 0) return trace(request, policy);
      const { signal, headers } = policy;
      const { name, target } = transport;
      const call = { signal, headers, transport: name, target, clock, estimate };
      const next = (changed: EvaluationRequest) =>
        trace(changed === request ? request : parseRequest(changed), policy);
      return throughMiddleware(chain, call, next)(request);
    }

    const evaluator = {
      evaluate: (request: EvaluationRequest, callOptions?: EvaluateOptions) =>
        evaluate(request, ownPolicy, callOptions),
      evaluateMany(requests: RequestSource, callOptions: EvaluateManyOptions = {}) {
        calls.checkOpen();
        const { concurrency, readAhead, order, ...others } = callOptions;
        const waits = new WaitingTime(clock);
        const policy = withOptions(batchPolicy, others);
        const answered = { count: 0 };
        const withWaits = { ...policy, answered, hooks: joinHooks(policy.hooks, waits) };
        return runBatch({
          requests,
          limits: { concurrency, readAhead, order },
          signal: others.signal,
          evaluateUntil: (signal) => {
            const untilSignal = { ...withWaits, signal };
            return (request) => evaluate(request, untilSignal);
          },
          checkOpen: () => calls.checkOpen(),
          waitMs: () => waits.leftMs,
        });
      },
      with: (middleware: Middleware) => evaluatorThrough([checkMiddleware(middleware), ...chain]),
      close: () => calls.close(),
      [Symbol.asyncDispose]: () => calls.close(),
    };
    // The types of questions and answers exist only where it is called.
    return evaluator as Evaluator;
  }

  return evaluatorThrough([]);
}

function checkMiddleware(middleware: Middleware): Middleware {
  if (typeof middleware === "function") return middleware;
  const message = `The middleware is no function; write with((request, next) => next(request)).`;
  throw new ConfigurationError(message, { option: "middleware" });
}

function withOptions(policy: RetryPolicy, options?: EvaluateOptions): RetryPolicy {
  if (options === undefined) return policy;
  const { signal, headers } = options;
  return { ...policy, ...readCallLimits(options), signal, headers };
}

async function logged<TValue>(lines: CallLines, call: () => Promise<TValue>): Promise<TValue> {
  try {
    return await call();
  } catch (error) {
    lines.onFailure(error);
    throw error;
  }
}

/** The calls in flight, until the evaluator is closed and they are over. */
class OpenCalls {
  readonly #closeTransport: () => Promise<void> | undefined;
  #count = 0;
  #closed: Promise<void> | null = null;
  #onLast: () => void = () => undefined;

  constructor(closeTransport: () => Promise<void> | undefined) {
    this.#closeTransport = closeTransport;
  }

  /** @throws ConfigurationError when no call may begin any more. */
  checkOpen(): void {
    if (this.#closed === null) return;
    const message = "The evaluator is closed; make another one with createEvaluator.";
    throw new ConfigurationError(message, { option: "close" });
  }

  begin(): void {
    this.checkOpen();
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
    if (this.#count === 0) this.#onLast();
  }

  close(): Promise<void> {
    this.#closed ??= this.#closeAfterLast();
    return this.#closed;
  }

  async #closeAfterLast(): Promise<void> {
    if (this.#count > 0) await new Promise<void>((resolve) => (this.#onLast = resolve));
    await this.#closeTransport();
  }
}
