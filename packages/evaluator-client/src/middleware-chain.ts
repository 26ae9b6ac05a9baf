import type { Clock } from "./clock.ts";
import { ConfigurationError } from "./errors.ts";
import type { Evaluation } from "./evaluation.ts";
import type { WaitLimit } from "./pacing/call-queue.ts";
import type { Questions } from "./questions/kinds.ts";
import type { EvaluationRequest } from "./questions/request.ts";
import type { CallEstimate, TransportTarget } from "./transports/transport.ts";

/** The call that a middleware is around. */
export interface MiddlewareCall {
  /** Ends the call; its reason is thrown unchanged. */
  readonly signal: AbortSignal | undefined;
  /** Sent with it beside the transport's own. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** The name of the transport that would send it, such as `gateway`. */
  readonly transport: string;
  /** The address and model, if the transport declares them. */
  readonly target: TransportTarget | undefined;
  readonly clock: Clock;
  /** Ends the waits of this call for a pause of the service or a retry early. */
  limitWait(this: void, limit: WaitLimit): void;
  /** Estimates the calls and tokens of one evaluation, by the length of the request. */
  estimate(request: EvaluationRequest): CallEstimate;
}

/**
 * Runs around every call of an evaluator, batches included. It receives the checked
 * request, calls `next` any number of times and returns the call's evaluation. `next` checks a changed
 * request again, waits and retries, and throws the call's last error.
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

/** @throws ConfigurationError if it is not a function. */
export function checkMiddleware(middleware: Middleware): Middleware {
  if (typeof middleware === "function") return middleware;
  const message = `The middleware is no function; write with((request, next) => next(request)).`;
  throw new ConfigurationError(message, { option: "middleware" });
}

/** Returns a send that goes through all of them, the first one first. */
export function throughMiddleware(
  chain: readonly Middleware[],
  call: MiddlewareCall,
  send: (request: EvaluationRequest) => Promise<Evaluation>,
): (request: EvaluationRequest) => Promise<Evaluation> {
  return chain.reduceRight(
    (next, middleware) => (request) => middleware(request, next, call),
    send,
  );
}
