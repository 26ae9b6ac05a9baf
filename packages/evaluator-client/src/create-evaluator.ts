import type { EvaluationBatch, RequestSource } from "./batch/batch.ts";
import { runBatch } from "./batch/run-batch.ts";
import type { Evaluation, EvaluationRequest } from "./evaluation.ts";
import {
  type CallLimits,
  type EvaluatorOptions,
  readCallLimits,
  readPacer,
  readQuestionLimits,
  readTransport,
} from "./evaluator-options.ts";
import { requestCheck } from "./questions/request-check.ts";
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
export interface EvaluateManyOptions extends EvaluateOptions {
  /** Requests in flight at once, at most. @default 8 */
  concurrency?: number;
}

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
// In a batch, waiting for the service's limit is the work.
const batchDefaults = { ...defaults, deadlineMs: Number.POSITIVE_INFINITY };

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
  const { tracing } = options;
  const checkRequest = requestCheck(readQuestionLimits(options));
  const ownLimits = readCallLimits(options);
  const ownWatch = joinWatches([options]);

  async function evaluate<TQuestions extends Questions>(
    request: EvaluationRequest<TQuestions>,
    { signal, ...limits }: Required<CallLimits> & { signal?: AbortSignal | undefined },
  ): Promise<Evaluation<TQuestions>> {
    signal?.throwIfAborted();
    checkRequest(request);
    const policy = { ...limits, signal, watch: ownWatch };
    if (tracing === undefined) return send(request, policy);
    const run = (watch: Watch) =>
      send(request, { ...policy, watch: joinWatches([options, watch]) });
    const traced = await tracing({ request, transport }, run);
    return traced as Evaluation<TQuestions>;
  }

  async function send<TQuestions extends Questions>(
    request: EvaluationRequest<TQuestions>,
    limits: Pick<RetryPolicy, keyof CallLimits | "signal" | "watch">,
  ): Promise<Evaluation<TQuestions>> {
    const startedAt = clock.now();
    const tokens = pacer.countsTokens ? estimateTokens(request) : 0;
    const attempt = async (context: AttemptContext) => {
      const reply = await transport.send(request, context);
      const response = checkReply(reply, request.questions);
      const status = reply.status ?? null;
      return { value: { reply, response }, status, tokensUsed: response.usage.inputTokens };
    };
    const policy = { ...limits, tokens, pacer, clock, random };
    const { value, attempts } = await withRetries(attempt, policy);
    const timing = { totalMs: clock.now() - startedAt, attempts };
    return toEvaluation(value.response, { ...value, questions: request.questions, timing });
  }

  return {
    async evaluate(request, { signal, ...limits } = {}) {
      return evaluate(request, { ...defaults, ...ownLimits, ...readCallLimits(limits), signal });
    },
    evaluateMany(requests, { signal, concurrency = 8, ...limits } = {}) {
      const callLimits = { ...batchDefaults, ...ownLimits, ...readCallLimits(limits) };
      return runBatch({
        requests,
        concurrency,
        signal,
        evaluate: (request, stop) => evaluate(request, { ...callLimits, signal: stop }),
      });
    },
  };
}
