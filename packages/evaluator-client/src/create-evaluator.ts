import { batchLimitsSchema, type RequestSource, runBatch, WaitingTime } from "./batch/run-batch.ts";
import { type Clock, elapsedMs, type EvaluatorRuntime, readRuntime } from "./clock.ts";
import { ConfigurationError } from "./errors.ts";
import { checkOptions, optionsObject } from "./options.ts";
import type { Evaluation } from "./evaluation.ts";
import type { EvaluateManyOptions, EvaluateOptions, Evaluator } from "./evaluator.ts";
import {
  callOptionsSchema,
  defaultCallLimits,
  type EvaluatorOptions,
  readCallLimits,
  readOptions,
  type Tracing,
} from "./evaluator-options.ts";
import { type Hooks, joinHooks } from "./hooks.ts";
import { type CallLines, CallLog, type Logger, warnOfLongState } from "./logger.ts";
import type { Pacer } from "./pacing/pacer.ts";
import {
  estimateTokens,
  isSurelyTooLong,
  type EvaluationRequest,
  requestParser,
} from "./questions/request.ts";
import { type Middleware, type MiddlewareCall, throughMiddleware } from "./middleware-chain.ts";
import type { CallEstimate, Transport } from "./transports/transport.ts";
import { type RetryPolicy, withRetries } from "./retry/with-retries.ts";
import { checkReply, toEvaluation } from "./to-evaluation.ts";
import type { AttemptContext } from "./retry/attempt.ts";

// Eight calls that share a bucket of 100 a second lose 14 of 240,000 with ten, and none with thirty.
const freeRetriesInBatch = 30;

const batchOptionsSchema = optionsObject({
  ...callOptionsSchema.shape,
  ...batchLimitsSchema.shape,
});

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
  runtime: EvaluatorRuntime = {},
): Evaluator {
  return evaluatorThrough([], new Calls(options, readRuntime(runtime)));
}

function evaluatorThrough(chain: readonly Middleware[], calls: Calls): Evaluator {
  const single = { policy: calls.policy, chain };
  const evaluator = {
    evaluate: (request: EvaluationRequest, options?: EvaluateOptions) =>
      calls.evaluate(request, single, options),
    evaluateMany(requests: RequestSource, options: EvaluateManyOptions = {}) {
      calls.open.check();
      checkRequests(requests);
      checkOptions(batchOptionsSchema, options);
      const { concurrency, readAhead, order, ...others } = options;
      const waits = new WaitingTime(calls.clock);
      const policy = withOptions(calls.batchPolicy, others);
      const answered = { count: 0 };
      const withWaits = { ...policy, answered, hooks: joinHooks(policy.hooks, waits) };
      return runBatch({
        requests,
        limits: { concurrency, readAhead, order },
        signal: others.signal,
        evaluateUntil: (signal) => {
          const context = { policy: { ...withWaits, signal }, chain };
          return (request) => calls.evaluate(request, context);
        },
        checkOpen: () => calls.open.check(),
        waitMs: () => waits.leftMs,
      });
    },
    with: (middleware: Middleware) =>
      evaluatorThrough([checkMiddleware(middleware), ...chain], calls),
    close: () => calls.open.close(),
    [Symbol.asyncDispose]: () => calls.open.close(),
  };
  // The types of questions and answers exist only where it is called.
  return evaluator as Evaluator;
}

/** How calls are made: their policy, and what they go through first. */
interface CallContext {
  readonly policy: RetryPolicy;
  readonly chain: readonly Middleware[];
}

/** Makes the calls of an evaluator and of those that {@link Evaluator.with} made of it. */
class Calls {
  readonly clock: Clock;
  /** The policy of a single call. */
  readonly policy: RetryPolicy;
  readonly batchPolicy: RetryPolicy;
  readonly open: OpenCalls;
  readonly #transport: Transport;
  readonly #pacer: Pacer;
  readonly #tracing: Tracing | undefined;
  readonly #logger: Logger | undefined;
  readonly #log: CallLog | null;
  readonly #parseRequest: (request: EvaluationRequest) => EvaluationRequest;

  constructor(options: EvaluatorOptions, runtime: Required<EvaluatorRuntime>) {
    const { transport, pacer, questionLimits, callLimits } = readOptions(options, runtime);
    const hooks = joinHooks(options);
    this.clock = runtime.clock;
    this.policy = {
      ...defaultCallLimits,
      ...callLimits,
      ...runtime,
      pacer,
      hooks,
      signal: undefined,
    };
    // In a batch, waiting for the service's limit is the work.
    const deadlineMs = callLimits.deadlineMs ?? Number.POSITIVE_INFINITY;
    this.batchPolicy = { ...this.policy, deadlineMs, freeRetries: freeRetriesInBatch };
    this.open = new OpenCalls(() => transport.close?.());
    this.#transport = transport;
    this.#pacer = pacer;
    this.#tracing = options.tracing;
    this.#logger = options.logger;
    this.#log = options.logger === undefined ? null : new CallLog(options.logger);
    this.#parseRequest = requestParser(questionLimits, transport.images);
  }

  async evaluate(
    given: EvaluationRequest,
    { policy: basePolicy, chain }: CallContext,
    options?: EvaluateOptions,
  ): Promise<Evaluation> {
    this.open.begin();
    try {
      const policy = withOptions(basePolicy, options);
      if (this.#log === null) return await this.#ask(given, policy, chain);
      const lines = this.#log.begin();
      const hooks = joinHooks(policy.hooks, lines);
      return await logged(lines, () => this.#ask(given, { ...policy, hooks }, chain));
    } finally {
      this.open.end();
    }
  }

  #ask(
    given: EvaluationRequest,
    policy: RetryPolicy,
    chain: readonly Middleware[],
  ): Promise<Evaluation> {
    policy.signal?.throwIfAborted();
    const request = this.#parseRequest(given);
    if (chain.length === 0) return this.#trace(request, policy);
    const { signal, headers } = policy;
    const { name, target } = this.#transport;
    let limited = policy;
    const call: MiddlewareCall = {
      signal,
      headers,
      transport: name,
      target,
      clock: this.clock,
      limitWait: (waitLimit) => void (limited = { ...policy, waitLimit }),
      estimate: (estimated) => this.#estimate(estimated),
    };
    const next = (changed: EvaluationRequest) =>
      this.#trace(changed === request ? request : this.#parseRequest(changed), limited);
    return throughMiddleware(chain, call, next)(request);
  }

  #trace(request: EvaluationRequest, policy: RetryPolicy): Promise<Evaluation> {
    if (isSurelyTooLong(request.state)) warnOfLongState(this.#logger);
    this.#log?.warnOfBlank(request.state);
    if (this.#tracing === undefined) return this.#send(request, policy);
    const run = (own: Hooks) =>
      this.#send(request, { ...policy, hooks: joinHooks(policy.hooks, own) });
    return this.#tracing({ request, transport: this.#transport }, run);
  }

  async #send(request: EvaluationRequest, policy: RetryPolicy): Promise<Evaluation> {
    const { questions } = request;
    const transport = this.#transport;
    const startedAtMs = this.clock.now();
    const attempt = async (context: AttemptContext) => {
      const reply = await transport.send(request, context);
      const response = checkReply(reply, questions);
      const { inputTokens } = response.usage;
      return { value: { reply, response }, status: reply.status ?? null, tokensUsed: inputTokens };
    };
    const tokens = this.#pacer.countsTokens ? this.#tokensOf(request) : 0;
    const { value, attempts } = await withRetries(attempt, policy, tokens);
    const timing = { totalMs: elapsedMs(this.clock, startedAtMs), attempts };
    const { reply, response } = value;
    return toEvaluation(response, { reply, transport: transport.name, questions, timing });
  }

  /** The tokens of each of the requests that a call sends. */
  #tokensOf(request: EvaluationRequest): number {
    const { calls, inputTokens } = this.#estimate(request);
    return inputTokens / Math.max(1, calls);
  }

  #estimate(request: EvaluationRequest): CallEstimate {
    return (
      this.#transport.estimate?.(request) ?? { calls: 1, inputTokens: estimateTokens(request) }
    );
  }
}

function checkMiddleware(middleware: Middleware): Middleware {
  if (typeof middleware === "function") return middleware;
  const message = `The middleware is no function; write with((request, next) => next(request)).`;
  throw new ConfigurationError(message, { option: "middleware" });
}

function checkRequests(requests: RequestSource): void {
  const isMany = typeof requests === "object" && requests !== null;
  if (isMany && (Symbol.iterator in requests || Symbol.asyncIterator in requests)) return;
  const message = `The requests are not an array, an iterable or an async iterable; for one, use evaluate().`;
  throw new ConfigurationError(message, { option: "requests" });
}

function withOptions(policy: RetryPolicy, options?: EvaluateOptions): RetryPolicy {
  if (options === undefined) return policy;
  checkOptions(callOptionsSchema, options);
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
  check(): void {
    if (this.#closed === null) return;
    const message = "The evaluator is closed; make another one with createEvaluator.";
    throw new ConfigurationError(message, { option: "close" });
  }

  begin(): void {
    this.check();
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
