import type { EvaluationBatch, RequestSource } from "./batch/batch.ts";
import { type BatchLimits, runBatch } from "./batch/run-batch.ts";
import type { Evaluation, EvaluationRequest } from "./evaluation.ts";
import {
  type CallLimits,
  type EvaluatorOptions,
  readCallLimits,
  readPacer,
  readQuestionLimits,
  readTransport,
} from "./evaluator-options.ts";
import { requestParser } from "./questions/request-parser.ts";
import { estimateTokens } from "./questions/estimate-tokens.ts";
import type { Questions } from "./questions/question.ts";
import { type Clock, systemClock } from "./retry/clock.ts";
import { type RetryPolicy, withRetries } from "./retry/with-retries.ts";
import { checkReply, toEvaluation } from "./to-evaluation.ts";
import type { AttemptContext } from "./transports/transport.ts";
import { joinWatches, type Watch } from "./watching/watch.ts";

/** Options of one call. */
export interface EvaluateOptions extends CallLimits {
  /** Ends the call at once; its reason is thrown as it is. */
  signal?: AbortSignal;
}

/** Options of a batch. */
export interface EvaluateManyOptions extends EvaluateOptions, BatchLimits {}

/** Asks typed questions about a state. */
export interface Evaluator {
  /**
   * Asks all questions about one state in one request, and checks every answer.
   *
   * @throws {InvalidRequestError} before sending, when the request cannot be answered as written.
   * @throws {StatusError} when the service answers with an error status, after retries.
   * @throws {ConnectionError} when no usable response arrives, after retries or in time.
   * @throws {InvalidResponseError} when the answers break the contract.
   * @throws {RefusalError} when the model declines to answer.
   */
  evaluate<const TQuestions extends Questions>(
    request: EvaluationRequest<TQuestions>,
    options?: EvaluateOptions,
  ): Promise<Evaluation<TQuestions>>;

  /**
   * Asks many requests, a few at once, and gives each outcome in input order; one failure never
   * ends the batch. The input is read only as far as needed, so it may be longer than memory.
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
  evaluateMany<const TQuestions extends Questions>(
    requests: RequestSource<TQuestions>,
    options?: EvaluateManyOptions,
  ): EvaluationBatch<TQuestions>;
}

/** What an evaluator takes from its surroundings; tests pass their own. */
export interface EvaluatorSurroundings {
  /** @default the machine's own clock */
  clock?: Clock;
  /** Gives a number from 0 to 1. @default Math.random */
  random?: () => number;
}

const defaults = { maxRetries: 2, deadlineMs: 120_000, attemptTimeoutMs: 30_000 };

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
  { clock = systemClock, random = Math.random }: EvaluatorSurroundings = {},
): Evaluator {
  const transport = readTransport(options);
  const pacer = readPacer(options, { transport, clock, random });
  const parseRequest = requestParser(readQuestionLimits(options));
  const { tracing } = options;
  const ownLimits = readCallLimits(options);
  const watch = joinWatches([options]);
  const ownPolicy = { ...defaults, ...ownLimits, signal: undefined, pacer, watch, clock, random };
  // In a batch, waiting for the service's limit is the work.
  const batchPolicy = {
    ...ownPolicy,
    deadlineMs: ownLimits.deadlineMs ?? Number.POSITIVE_INFINITY,
    freeRetries: 3,
  };

  const tokensOf = (request: EvaluationRequest) =>
    transport.estimate?.(request).inputTokens ?? estimateTokens(request);

  async function evaluate<TQuestions extends Questions>(
    given: EvaluationRequest<TQuestions>,
    basePolicy: RetryPolicy,
    callOptions?: EvaluateOptions,
  ): Promise<Evaluation<TQuestions>> {
    const policy = withOptions(basePolicy, callOptions);
    policy.signal?.throwIfAborted();
    const request = parseRequest(given) as EvaluationRequest<TQuestions>;
    if (tracing === undefined) return await send(request, policy);
    const run = (own: Watch) => send(request, { ...policy, watch: joinWatches([options, own]) });
    const traced = await tracing({ request, transport }, run);
    return traced as Evaluation<TQuestions>;
  }

  async function send<TQuestions extends Questions>(
    request: EvaluationRequest<TQuestions>,
    policy: RetryPolicy,
  ): Promise<Evaluation<TQuestions>> {
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
    const timing = { totalMs: clock.now() - startedAtMs, attempts };
    return toEvaluation(value.response, { reply: value.reply, questions, timing });
  }

  return {
    evaluate: (request, options) => evaluate(request, ownPolicy, options),
    evaluateMany(requests, { concurrency, readAhead, order, ...options } = {}) {
      const callPolicy = withOptions(batchPolicy, options);
      return runBatch({
        requests,
        ...(concurrency !== undefined && { concurrency }),
        ...(readAhead !== undefined && { readAhead }),
        ...(order !== undefined && { order }),
        signal: options.signal,
        evaluateUntil: (signal) => {
          const untilSignal = { ...callPolicy, signal };
          return (request) => evaluate(request, untilSignal);
        },
      });
    },
  };
}

function withOptions(policy: RetryPolicy, options?: EvaluateOptions): RetryPolicy {
  if (options === undefined) return policy;
  return { ...policy, ...readCallLimits(options), signal: options.signal };
}
