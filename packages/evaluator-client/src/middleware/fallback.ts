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
  const kinds = Array.isArray(on) ? [...(on as readonly ErrorClass[])] : [];
  const isOf =
    typeof on === "function" ? on : (error: unknown) => kinds.some((kind) => error instanceof kind);
  // A probe that is not answered in time has the error that began the pause as its cause.
  const isMeant = (error: unknown): boolean =>
    on === undefined ? isWorthAnother(error) : isOf(error) || isOf((error as Error).cause);
  return async (request, next, call) => {
    call.limitWait({ maxWaitMs, isMeant });
    try {
      return await next(request);
    } catch (error) {
      if (call.signal?.aborted || !isMeant(error)) throw error;
      // The service did its work, though its answer is of no use.
      if (error instanceof InvalidResponseError || error instanceof RefusalError)
        call.elsewhere.lost += 1;
      // Its questions are those of the request, which the compiler cannot see for all types of them.
      return (await askOther(evaluator, request, call)) as never;
    }
  };
}

function isWorthAnother(error: unknown): boolean {
  if (error instanceof InvalidResponseError) return true;
  return (error as Partial<EvaluatorError>).isRetryable === true;
}
