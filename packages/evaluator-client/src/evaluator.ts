/// <reference lib="esnext.disposable" preserve="true" />
import type { Defined } from "./options.ts";
import type { EvaluationBatch, RequestSource } from "./batch/run-batch.ts";
import type { Clock } from "./clock.ts";
import type { Evaluation } from "./evaluation.ts";
import type { CallLimits, EvaluateManyOptions, EvaluateOptions } from "./evaluator-options.ts";
import type { WaitLimit } from "./pacing/call-queue.ts";
import type { Questions } from "./questions/kinds.ts";
import type { NonEmpty } from "./questions/kinds/kind.ts";
import type { EvaluationRequest } from "./questions/request.ts";
import type { StateOf } from "./questions/state.ts";
import type { ProviderOptions } from "./transports/provider-options.ts";
import type { BoundedEstimate } from "./transports/call-estimate.ts";
import type { TransportTarget } from "./transports/transport.ts";

/** Attempts of other evaluators for a call; the middleware that asks them counts them here. */
export interface AttemptsElsewhere {
  /** How many may be charged for without an answer; they are a part of `lostAttempts`. */
  lost: number;
  /** How many answers `next` and other evaluators gave to this call. */
  answered: number;
  /** The price of the attempt that is about to be made elsewhere, in US dollars; undefined if unknown. */
  usdPerMillionTokens: number | undefined;
  /** The most tokens of that attempt, input and output; undefined if unknown. */
  mostTokens: number | undefined;
  /** Runs the checks before an attempt, such as a budget's. @throws their errors */
  check(this: void): Promise<void>;
}

/** The call that a middleware is around. */
export interface MiddlewareCall {
  /** Aborts with the caller's reason, or with a `TimeoutError` at the call's deadline; ends your own waits. */
  readonly signal: AbortSignal | undefined;
  /** The limits of this call. */
  readonly limits: Readonly<Defined<CallLimits>>;
  /** Sent with it beside the transport's own. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Options of the call for the service. */
  readonly providerOptions: ProviderOptions | undefined;
  /** The name of the transport that would send it, such as `gateway`. */
  readonly transport: string;
  /** The address and model, if the transport declares them. */
  readonly target: TransportTarget | undefined;
  /** The price of a million input tokens at the transport in US dollars, if it is known beforehand. */
  readonly usdPerMillionTokens: number | undefined;
  readonly clock: Clock;
  /** Attempts of `next` so far whose answer was lost, so that the service may have charged for it. */
  readonly lostAttempts: number;
  /** The attempts of other evaluators for this call. */
  readonly elsewhere: AttemptsElsewhere;
  /** Ends the waits of this call for a pause of the service or a retry early. */
  limitWait(this: void, limit: WaitLimit): void;
  /** Adds a check before each attempt of `next`; an error of it ends the call, and nothing more is sent. */
  beforeAttempt(this: void, check: () => Promise<void> | void): void;
  /** Estimates the calls and tokens of one evaluation, by the length of the request, and its most tokens. */
  estimate(request: EvaluationRequest): BoundedEstimate;
}

/**
 * Runs around every call of an evaluator, batches included. It calls `next` any number of times and
 * returns the evaluation. `next` checks a changed request again, waits, retries and throws the last error.
 * The call's deadline counts for everything that a middleware does.
 *
 * @example
 * ```ts
 * const withoutName: Middleware = (request, next) =>
 *   next({ ...request, state: JSON.stringify(request.state).replaceAll("Ada", "somebody") });
 * const evaluator = createEvaluator().with(withoutName);
 * ```
 */
export type Middleware = <TQuestions extends Questions>(
  request: EvaluationRequest<TQuestions>,
  next: (request: EvaluationRequest<TQuestions>) => Promise<Evaluation<TQuestions>>,
  call: MiddlewareCall,
) => Promise<Evaluation<TQuestions>>;

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
    request: EvaluationRequest<TQuestions & NonEmpty<TQuestions>, TState & StateOf<TState>>,
    options?: EvaluateOptions,
  ): Promise<Evaluation<TQuestions>>;

  /**
   * Asks many requests, a few at once, and yields each outcome, in input order by default. One failure
   * never ends the batch. The input is read only as far as needed, so it may be larger than memory.
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
    requests: RequestSource<TQuestions & NonEmpty<TQuestions>, TState & StateOf<TState>>,
    options?: EvaluateManyOptions,
  ): EvaluationBatch<TQuestions>;

  /**
   * Returns an evaluator whose calls go through this middleware before the existing ones. Both
   * evaluators share connections, limits and pauses.
   *
   * @throws {ConfigurationError} when it is no function.
   */
  with(middleware: Middleware): Evaluator;

  /** Waits for the calls in flight, then closes the connections; later calls are a `ConfigurationError`. */
  close(): Promise<void>;
}
