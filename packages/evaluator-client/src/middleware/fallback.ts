import * as z from "zod/mini";
import { type EvaluatorError, InvalidResponseError, RefusalError } from "../errors.ts";
import { checkOptions, objectWith, optionsObject } from "../options.ts";
import type { Evaluator, Middleware } from "../evaluator.ts";
import { askOther } from "./ask-other.ts";

/** A class of errors, such as `ConnectionError`. */
export type ErrorClass = abstract new (...args: never[]) => EvaluatorError;

/** When to ask somebody else. */
export interface FallbackOptions {
  /** After which errors, or whether after one. @default those that a retry may help, and answers that break the contract */
  on?: readonly ErrorClass[] | ((error: unknown) => boolean) | undefined;
  /** How long a call waits for a pause or for retries of the first service, in milliseconds. @default 1000 */
  maxWaitMs?: number | undefined;
}

const helperSchema = z.object({
  evaluator: objectWith("it is an evaluator, from createEvaluator()", "evaluate"),
});
const optionsSchema = optionsObject({
  on: z.optional(z.array(z.custom((value) => typeof value === "function", "it is a class"))),
  maxWaitMs: z.optional(z.number().check(z.nonnegative())),
});

/**
 * Makes a middleware that asks another evaluator, over another transport, if a call fails or would
 * wait longer than `maxWaitMs` for a pause or a retry. While the first service is paused, one call
 * at the end of each pause probes it. The evaluation's `transport` and `modelId` show who answered; if
 * the other evaluator fails too, its error is thrown. Signal, deadline, headers and `providerOptions` of the call go along. It is not closed with the evaluator that it helps.
 *
 * @throws {ConfigurationError} when an option is wrong.
 * @example
 * ```ts
 * const vendor = createEvaluator({ transport: directTransport() });
 * const evaluator = createEvaluator().with(fallback(vendor, { on: [ConnectionError] }));
 * ```
 */
export function fallback(evaluator: Evaluator, options: FallbackOptions = {}): Middleware {
  checkOptions(helperSchema, { evaluator });
  const isFunction = typeof options.on === "function";
  checkOptions(optionsSchema, isFunction ? { ...options, on: undefined } : options);
  const { maxWaitMs = 1000 } = options;
  const { on } = options;
  const errorClasses = Array.isArray(on) ? [...(on as readonly ErrorClass[])] : [];
  const isWorthFallback =
    typeof on === "function"
      ? on
      : (thrownError: unknown) =>
          errorClasses.some((errorClass) => thrownError instanceof errorClass);
  // A probe that is not answered in time has the error that began the pause as its cause.
  const isMeant = (error: unknown): boolean =>
    on === undefined
      ? isWorthAnother(error)
      : isWorthFallback(error) || isWorthFallback((error as Error).cause);
  return async (request, nextMiddleware, middlewareCall) => {
    middlewareCall.limitWait({ maxWaitMs, isMeant });
    try {
      return await nextMiddleware(request);
    } catch (error) {
      if (middlewareCall.signal?.aborted || !isMeant(error)) throw error;
      // The service did its work, though its answer is of no use.
      if (error instanceof InvalidResponseError || error instanceof RefusalError)
        middlewareCall.elsewhere.lost += 1;
      // Its questions are those of the request, which the compiler cannot see for all types of them.
      return (await askOther(evaluator, request, middlewareCall)) as never;
    }
  };
}

function isWorthAnother(thrownError: unknown): boolean {
  if (thrownError instanceof InvalidResponseError) return true;
  return (thrownError as Partial<EvaluatorError>).isRetryable === true;
}
