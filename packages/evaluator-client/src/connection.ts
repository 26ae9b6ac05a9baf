import type { Defined } from "./options.ts";
import type { EvaluatorRuntime } from "./clock.ts";
import type { EvaluatorError } from "./errors.ts";
import { callLimits, type EvaluatorOptions } from "./evaluator-options.ts";
import { CallLog, joinHooks, loggerFromEnvironment } from "./logger.ts";
import { createPacer } from "./pacing/pacer.ts";
import { requestParser } from "./questions/request.ts";
import { findRetryAfterMs, type RetryPolicy } from "./retry/retry-policy.ts";
import { transportFromEnvironment } from "./transport-from-environment.ts";

// With ten, 14 of 240,000 calls fail, eight at once at a bucket of 100 a second; with thirty, none.
const freeRetriesInBatch = 30;

/** The transport of an evaluator, and the policies of its calls. */
export type Connection = ReturnType<typeof connect>;

/** Returns the transport of checked options, else that of the environment, and the policies of its calls. */
export function connect(options: EvaluatorOptions, runtime: Defined<EvaluatorRuntime>) {
  const transport = options.transport ?? transportFromEnvironment(options.env);
  const { questionLimits = {}, limits = transport.limits ?? {} } = options;
  const pacer = options.pacer ?? createPacer(limits, runtime);
  const { maxRetryAfterMs = Infinity } = options.retry ?? {};
  const isMeant = (cause: EvaluatorError) => (findRetryAfterMs(cause) ?? 0) > maxRetryAfterMs;
  const policy: RetryPolicy = {
    ...callLimits(options),
    ...runtime,
    pacer,
    hooks: joinHooks(options),
    signal: undefined,
    ...(options.retry && { retry: structuredClone(options.retry) }),
    ...(maxRetryAfterMs < Infinity && { waitLimit: { maxWaitMs: maxRetryAfterMs, isMeant } }),
  };
  // In a batch, waiting for the service's limit is the work.
  const deadlineMs = options.deadlineMs ?? Number.POSITIVE_INFINITY;
  const batchPolicy: RetryPolicy = { ...policy, deadlineMs, freeRetries: freeRetriesInBatch };
  return {
    transport,
    log: new CallLog(options.logger ?? loggerFromEnvironment(options.env)),
    policy,
    batchPolicy,
    parseRequest: requestParser(questionLimits, transport),
  };
}
