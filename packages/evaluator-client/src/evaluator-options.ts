import * as z from "zod/mini";
import type { BatchLimits } from "./batch/run-batch.ts";
import { checkOptions, checkPrice, type Defined, objectWith, optionsObject } from "./options.ts";
import type { Environment } from "./environment.ts";
import type { Pacer } from "./pacing/pacer.ts";
import { type RateLimits, rateLimitsSchema } from "./pacing/rate-limits.ts";
import type { QuestionLimits } from "./questions/kinds/kind.ts";
import type { EvaluationRequest } from "./questions/request.ts";
import type { ProviderOptions } from "./transports/provider-options.ts";
import type { Transport } from "./transports/transport.ts";
import type { Evaluation } from "./evaluation.ts";
import { type Hooks, type Logger, logLevels } from "./logger.ts";

// The longest time a timer can hold.
const millisecondsSchema = z.number().check(z.positive(), z.maximum(2 ** 31 - 1));

// The retries are the contract's (section 8). Answers took 138 to 166 ms (2.5), and attempts may wait.
const defaultLimits = { maxRetries: 2, deadlineMs: 120_000, attemptTimeoutMs: 30_000 };

const callLimitsShape = {
  maxRetries: z.optional(z.int().check(z.minimum(0))),
  deadlineMs: z.optional(millisecondsSchema),
  attemptTimeoutMs: z.optional(millisecondsSchema),
};
const callback = z.optional(z.custom((value) => typeof value === "function", "it is a function"));
const anyObject = z.custom<object>((value) => typeof value === "object" && value !== null);
const callOptionsShape = {
  ...callLimitsShape,
  signal: z.optional(z.unknown()),
  headers: z.optional(z.unknown()),
  providerOptions: z.optional(anyObject),
  beforeAttempt: callback,
};
const wholeNumber = "it is a whole number from 1";
const countSchema = z.int(wholeNumber).check(z.minimum(1, wholeNumber));
/** The limits of a call, the options of a call, and those of a batch. */
export const callSchemas = {
  limits: z.object(callLimitsShape),
  call: optionsObject(callOptionsShape),
  batch: optionsObject({
    ...callOptionsShape,
    concurrency: z.optional(countSchema),
    readAhead: z.optional(countSchema),
    order: z.optional(z.enum(["input", "completion"], `it is "input" or "completion"`)),
  }),
};
/** Limits of one call. */
export interface CallLimits {
  /** Retries after the first attempt. @default 2 */
  maxRetries?: number | undefined;
  /** Time over all attempts and waits, in milliseconds. @default 120000, and none in a batch */
  deadlineMs?: number | undefined;
  /** Time for each attempt, headers and body, in milliseconds. @default 30000 */
  attemptTimeoutMs?: number | undefined;
}

/** Options of one call. */
export interface EvaluateOptions extends CallLimits {
  /** Ends the call at once; its reason is thrown unchanged. */
  signal?: AbortSignal | undefined;
  /** Sent beside the transport's own headers, which they cannot replace; for a request id or `traceparent`. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Routing, privacy and reports of this call at the gateway, such as `{ gateway: { only: ["azure"] } }`. */
  providerOptions?: ProviderOptions | undefined;
  /**
   * Called before each attempt, with the number of earlier attempts of the call whose answers were lost and
   * may be charged for, the price of the model if it is known beforehand, and the most tokens that the attempt
   * may take. An error of it ends the call, and nothing more is sent.
   */
  beforeAttempt?:
    | ((
        lostAttempts: number,
        usdPerMillionTokens?: number,
        mostTokens?: number,
      ) => Promise<void> | void)
    | undefined;
}

/** Options of a batch. */
export interface EvaluateManyOptions extends EvaluateOptions, BatchLimits {}

/** A call that begins. */
export interface TracedCall {
  readonly request: EvaluationRequest;
  /** The transport that sends it. */
  readonly transport: Transport;
}

/** Runs around every call: it calls `run` once with callbacks, and returns its result or throws its error. */
export type Tracing = (
  call: TracedCall,
  run: (hooks: Hooks) => Promise<Evaluation>,
) => Promise<Evaluation>;

/** Which failures are tried again, and when. */
export interface RetryOptions {
  /** The HTTP statuses that are tried again, unless the service forbids it (`x-should-retry: false`). @default 408, 425, 429, 500, 502, 503, 504, 520 to 527 and 529 */
  statuses?: readonly number[] | undefined;
  /** The longest delay before the first retry, in milliseconds; four times as long after a refusal. It doubles each time. @default 250 */
  initialDelayMs?: number | undefined;
  /** The longest delay that the service did not ask for, in milliseconds. @default 8000 */
  maxDelayMs?: number | undefined;
  /** The longest wait that the service may ask for, in milliseconds; else the call fails at once. @default the deadline */
  maxRetryAfterMs?: number | undefined;
}

/** The transport, limits and callbacks of an evaluator. */
export interface EvaluatorOptions extends CallLimits, Hooks {
  /** The way to the model. @default the one EVALUATOR_TRANSPORT names, else the gateway; read at the first call */
  transport?: Transport | undefined;
  /** Environment variables for the options not given. @default the program's own */
  env?: Environment | undefined;
  /** Known limits of the service; `{}` for none. @default the transport's */
  limits?: RateLimits | undefined;
  /** How large questions may be. @default 255 options and 10 levels */
  questionLimits?: QuestionLimits | undefined;
  /** Runs around every call, such as `openTelemetryTracing()`. @default none */
  tracing?: Tracing | undefined;
  /** Which failures are tried again, and when. */
  retry?: RetryOptions | undefined;
  /** Receives one line for each attempt, wait and failure; may be `console`. @default by EVALUATOR_LOG (debug, info, warn or error), on standard error */
  logger?: Logger | undefined;
  /** Shares limits and pauses with other evaluators, instead of `limits`. @default a new pacer */
  pacer?: Pacer | undefined;
}

/** Returns the limits among checked options; `others` for those that are not set. */
export function callLimits(
  { maxRetries, deadlineMs, attemptTimeoutMs }: CallLimits,
  others: Defined<CallLimits> = defaultLimits,
): Defined<CallLimits> {
  return {
    maxRetries: maxRetries ?? others.maxRetries,
    deadlineMs: deadlineMs ?? others.deadlineMs,
    attemptTimeoutMs: attemptTimeoutMs ?? others.attemptTimeoutMs,
  };
}

const optionsSchema = optionsObject({
  ...callLimitsShape,
  limits: z.optional(rateLimitsSchema),
  retry: z.optional(
    optionsObject({
      statuses: z.optional(z.array(z.int().check(z.minimum(400), z.maximum(599)))),
      initialDelayMs: z.optional(millisecondsSchema),
      maxDelayMs: z.optional(millisecondsSchema),
      maxRetryAfterMs: z.optional(z.number().check(z.nonnegative())),
    }),
  ),
  questionLimits: z.optional(
    optionsObject({
      maxOptions: z.optional(z.int().check(z.minimum(1))),
      maxLevels: z.optional(z.int().check(z.minimum(1))),
    }),
  ),
  transport: z.optional(objectWith("it is a transport, such as gatewayTransport()", "send")),
  pacer: z.optional(objectWith("it is a pacer, such as createPacer()", "admit", "admitNow")),
  env: z.optional(anyObject),
  logger: z.optional(
    z.custom(
      isLogger,
      "it is an object with some of the functions debug, info, warn and error, such as console",
    ),
  ),
  tracing: callback,
  onAttempt: callback,
  onWait: callback,
});

/** Throws a `ConfigurationError` for the first wrong option of an evaluator. */
export function checkEvaluatorOptions(options: EvaluatorOptions): void {
  checkOptions(optionsSchema, options);
  checkPrice("transport.usdPerMillionTokens", options.transport?.usdPerMillionTokens ?? 0);
}

function isLogger(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const methods = logLevels.map((level): unknown => Reflect.get(value, level));
  const givenMethods = methods.filter((method) => method !== undefined);
  return givenMethods.length > 0 && givenMethods.every((method) => typeof method === "function");
}
