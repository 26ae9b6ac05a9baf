import { type RequestSource, runBatch } from "./batch/run-batch.ts";
import { type Clock, elapsedMs, type EvaluatorRuntime, readRuntime } from "./clock.ts";
import { connect, type Connection } from "./connection.ts";
import { checkReply, type Evaluation, toEvaluation } from "./evaluation.ts";
import type { Evaluator, Middleware } from "./evaluator.ts";
import {
  callLimits,
  callSchemas,
  checkEvaluatorOptions,
  type EvaluateManyOptions,
  type EvaluateOptions,
  type EvaluatorOptions,
  type Tracing,
} from "./evaluator-options.ts";
import { type Hooks, joinHooks } from "./logger.ts";
import { checkOptions, closedError, type Defined, rejectOption } from "./options.ts";
import type { EvaluationRequest } from "./questions/request.ts";
import { askThrough, checkMiddleware } from "./middleware-chain.ts";
import { RetriedCall } from "./retry/retried-call.ts";
import type { RetryPolicy } from "./retry/retry-policy.ts";
import { checkOptionsFor } from "./transports/provider-options.ts";
import { checkLength, estimateCall } from "./transports/call-estimate.ts";
import type { AttemptContext } from "./transports/transport.ts";

/**
 * Makes an evaluator. Without `transport`, the environment is read at the first call, so that a module can
 * make one before its key is known; that call then fails if the key is missing.
 *
 * @throws {ConfigurationError} when an option is wrong.
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
  const evaluator = {
    evaluate: (request: EvaluationRequest, options?: EvaluateOptions) =>
      calls.evaluate(request, { chain }, options),
    evaluateMany: (requests: RequestSource, options?: EvaluateManyOptions) =>
      calls.evaluateMany(requests, chain, options),
    with: (middleware: Middleware) =>
      evaluatorThrough([checkMiddleware(middleware), ...chain], calls),
    close: () => calls.close(),
    [Symbol.asyncDispose]: () => calls.close(),
  };
  // The public type infers the answers from the questions of each call.
  return evaluator as Evaluator;
}

/** Makes the calls of an evaluator and of those that {@link Evaluator.with} derived from it. */
class Calls {
  readonly #options: EvaluatorOptions;
  readonly #runtime: Defined<EvaluatorRuntime>;
  readonly #clock: Clock;
  readonly #tracing: Tracing | undefined;
  #connectedConnection: Connection | null = null;
  #inFlight = 0;
  #closedPromise: Promise<void> | null = null;
  #onIdle: (() => void) | null = null;

  constructor(options: EvaluatorOptions, runtime: Defined<EvaluatorRuntime>) {
    checkEvaluatorOptions(options);
    this.#options = { ...options };
    this.#runtime = runtime;
    this.#clock = runtime.clock;
    this.#tracing = options.tracing;
  }

  /** @throws ConfigurationError if the environment lacks something. */
  get #connection(): Connection {
    return (this.#connectedConnection ??= connect(this.#options, this.#runtime));
  }

  async evaluate(
    givenEvaluationRequest: EvaluationRequest,
    context: { readonly chain: readonly Middleware[]; readonly policy?: RetryPolicy },
    options?: EvaluateOptions,
  ): Promise<Evaluation> {
    this.#checkOpen();
    this.#inFlight += 1;
    try {
      const { chain, policy: base = this.#connection.policy } = context;
      const policy = options === undefined ? base : withOptions(base, options, callSchemas.call);
      return this.#connection.log.isSilent
        ? await this.#ask(givenEvaluationRequest, policy, chain)
        : await this.#connection.log.follow(policy.hooks, (hooks) =>
            this.#ask(givenEvaluationRequest, { ...policy, hooks }, chain),
          );
    } finally {
      this.#inFlight -= 1;
      if (this.#inFlight === 0) this.#onIdle?.();
    }
  }

  evaluateMany(
    requests: RequestSource,
    chain: readonly Middleware[],
    options: EvaluateManyOptions = {},
  ) {
    this.#checkOpen();
    checkRequests(requests);
    const batch = withOptions(this.#connection.batchPolicy, options, callSchemas.batch);
    let waitEndsAtMs = 0;
    const onWait = ({ delayMs }: { delayMs: number | null }) => {
      waitEndsAtMs = Math.max(waitEndsAtMs, this.#clock.now() + (delayMs ?? 0));
    };
    const hooks = joinHooks(batch.hooks, { onWait });
    const policy = { ...batch, answered: { count: 0 }, hooks };
    return runBatch({
      requests,
      limits: options,
      signal: options.signal,
      evaluateUntil: (signal) => {
        const context = { policy: { ...policy, signal }, chain };
        return (request) => this.evaluate(request, context);
      },
      checkOpen: () => this.#checkOpen(),
      waitMs: () => Math.max(0, waitEndsAtMs - this.#clock.now()),
    });
  }

  close(): Promise<void> {
    this.#closedPromise ??= this.#closeWhenIdle();
    return this.#closedPromise;
  }

  #checkOpen(): void {
    if (this.#closedPromise !== null) throw closedError("evaluator", "close");
  }

  async #closeWhenIdle(): Promise<void> {
    if (this.#inFlight > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    const transport = this.#options.transport ?? this.#connectedConnection?.transport;
    await transport?.close?.();
  }

  #ask(
    givenEvaluationRequest: EvaluationRequest,
    policy: RetryPolicy,
    chain: readonly Middleware[],
  ): Promise<Evaluation> {
    policy.signal?.throwIfAborted();
    const { parseRequest, transport } = this.#connection;
    const request = parseRequest(givenEvaluationRequest);
    if (policy.providerOptions !== undefined) checkOptionsFor(transport, policy.providerOptions);
    if (chain.length === 0 && policy.beforeAttempt === undefined)
      return this.#trace(request, policy);
    return askThrough(chain, {
      request,
      policy,
      transport,
      estimate: (estimatedEvaluationRequest) => estimateCall(estimatedEvaluationRequest, transport),
      send: (changedEvaluationRequest, limitedRetryPolicy) =>
        this.#trace(
          changedEvaluationRequest === request ? request : parseRequest(changedEvaluationRequest),
          limitedRetryPolicy,
        ),
    });
  }

  #trace(request: EvaluationRequest, policy: RetryPolicy): Promise<Evaluation> {
    checkLength(request, this.#connection.transport);
    if (!this.#connection.log.isSilent) this.#connection.log.warnOfBlank(request.state);
    if (this.#tracing === undefined) return this.#send(request, policy);
    const run = (own: Hooks) =>
      this.#send(request, { ...policy, hooks: joinHooks(policy.hooks, own) });
    return this.#tracing({ request, transport: this.#connection.transport }, run);
  }

  async #send(request: EvaluationRequest, policy: RetryPolicy): Promise<Evaluation> {
    const { questions } = request;
    const { transport } = this.#connection;
    const startedAtMs = this.#clock.now();
    const tokens = policy.pacer.countsTokens ? this.#tokensOfEach(request) : 0;
    const attempt = async (context: AttemptContext) => {
      const reply = await transport.send(request, context);
      const response = checkReply(reply, questions, transport.name);
      const tokensUsed = response.usage?.inputTokens ?? tokens;
      return { value: { reply, response }, status: reply.status ?? null, tokensUsed };
    };
    const { value, attempts } = await new RetriedCall(policy, tokens).run(attempt);
    const timing = { totalMs: elapsedMs(this.#clock, startedAtMs), attempts };
    const { reply, response } = value;
    return toEvaluation(response, { reply, transport: transport.name, questions, timing });
  }

  #tokensOfEach(request: EvaluationRequest): number {
    const { calls, inputTokens } = estimateCall(request, this.#connection.transport);
    return inputTokens / Math.max(1, calls);
  }
}

function checkRequests(requests: RequestSource): void {
  const isMany = typeof requests === "object" && requests !== null;
  if (isMany && (Symbol.iterator in requests || Symbol.asyncIterator in requests)) return;
  rejectOption("requests", "is not an array or iterable; for one request, use evaluate()");
}

function withOptions(
  policy: RetryPolicy,
  options: EvaluateOptions,
  schema: (typeof callSchemas)["call" | "batch"],
): RetryPolicy {
  checkOptions(schema, options);
  const { signal, headers, providerOptions, beforeAttempt } = options;
  return {
    ...policy,
    ...callLimits(options, policy),
    signal,
    headers: headers && { ...headers },
    providerOptions: providerOptions && structuredClone(providerOptions),
    ...(beforeAttempt !== undefined && { beforeAttempt }),
  };
}
