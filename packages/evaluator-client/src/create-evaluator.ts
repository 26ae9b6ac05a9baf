import type { Evaluation, EvaluationRequest } from "./evaluation.ts";
import {
  type CallLimits,
  type EvaluatorOptions,
  readLimits,
  readTransport,
} from "./evaluator-options.ts";
import { checkRequest } from "./questions/check-request.ts";
import type { Questions } from "./questions/question.ts";
import { type Clock, systemClock } from "./retry/clock.ts";
import { withRetries } from "./retry/with-retries.ts";
import { checkReply, toEvaluation } from "./to-evaluation.ts";

/** Options of one call. */
export interface EvaluateOptions extends CallLimits {
  /** Ends the call at once; its reason is thrown as it is. */
  signal?: AbortSignal;
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
}

/** What an evaluator takes from its surroundings; tests pass their own. */
export interface EvaluatorSurroundings {
  /** @default the machine's own clock */
  clock?: Clock;
  /** Gives a number from 0 to 1. @default Math.random */
  random?: () => number;
}

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
  const defaults = readLimits(options);
  return {
    async evaluate(request, callOptions = {}) {
      const { signal } = callOptions;
      signal?.throwIfAborted();
      const limits = readLimits(callOptions, defaults);
      checkRequest(request);
      const startedAt = clock.now();
      const attempt = async (attemptSignal: AbortSignal) => {
        const reply = await transport.send(request, { signal: attemptSignal, clock });
        return { reply, response: checkReply(reply, request.questions) };
      };
      const { value, attempts } = await withRetries(attempt, { ...limits, signal, clock, random });
      const timing = { totalMs: clock.now() - startedAt, attempts };
      return toEvaluation(value.response, {
        reply: value.reply,
        questions: request.questions,
        timing,
      });
    },
  };
}
