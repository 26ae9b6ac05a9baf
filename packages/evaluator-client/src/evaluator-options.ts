import * as z from "zod";
import { checkOptions } from "./check-option.ts";
import { type Environment, environmentNames, programEnvironment } from "./environment.ts";
import { ConfigurationError } from "./errors.ts";
import { createPacer, type Pacer } from "./pacing/pacer.ts";
import { type RateLimits, rateLimitsSchema } from "./pacing/rate-limits.ts";
import { type QuestionLimits, questionLimitsSchema } from "./questions/question-limits.ts";
import type { Clock } from "./retry/clock.ts";
import { directTransport } from "./transports/direct/direct-transport.ts";
import { gatewayTransport } from "./transports/gateway/gateway-transport.ts";
import { logprobsTransport } from "./transports/logprobs/logprobs-transport.ts";
import type { Transport } from "./transports/transport.ts";
import type { Tracing } from "./watching/tracing.ts";
import type { Watch } from "./watching/watch.ts";

// The longest time a timer can hold.
const millisecondsSchema = z
  .number()
  .positive()
  .max(2 ** 31 - 1);

/** Limits of one call; each may be given for all calls or for one. */
export const callLimitsSchema = z.object({
  maxRetries: z.int().min(0).default(2),
  deadlineMs: millisecondsSchema.default(120_000),
  attemptTimeoutMs: millisecondsSchema.default(30_000),
});
/** Limits of one call. */
export interface CallLimits {
  /** Retries after the first attempt. @default 2 */
  maxRetries?: number;
  /** Time over all attempts and waits, in milliseconds. @default 120000, and none in a batch */
  deadlineMs?: number;
  /** Time for each attempt, headers and body, in milliseconds. @default 30000 */
  attemptTimeoutMs?: number;
}

/** How an evaluator reaches the model, how long it tries, and who is told. */
export interface EvaluatorOptions extends CallLimits, Watch {
  /** The way to the model. @default the one EVALUATOR_TRANSPORT names, else the gateway */
  transport?: Transport;
  /** Environment variables for the options not given. @default the program's own */
  env?: Environment;
  /** Known limits of the service; `{}` for none. @default the transport's */
  limits?: RateLimits;
  /** How large questions may be. @default 255 options and 10 levels */
  questionLimits?: QuestionLimits;
  /** Runs around every call, such as `openTelemetryTracing()`. @default none */
  tracing?: Tracing;
  /** Shares limits and pauses with other evaluators, instead of `limits`. @default one of its own */
  pacer?: Pacer;
}

const transports = {
  gateway: gatewayTransport,
  direct: directTransport,
  logprobs: logprobsTransport,
};

/** The transport in the options, or the one the environment names. */
export function readTransport({ transport, env = programEnvironment() }: EvaluatorOptions) {
  if (transport !== undefined) return transport;
  const environmentVariable = environmentNames.transport;
  const name = env[environmentVariable]?.trim() || "gateway";
  if (Object.hasOwn(transports, name)) return transports[name as keyof typeof transports]({ env });
  const message = `${environmentVariable} is none of ${Object.keys(transports).join(", ")}.`;
  throw new ConfigurationError(message, { option: "transport", environmentVariable });
}

/** The call limits among the options that are set, checked. */
export function readCallLimits(options: CallLimits): CallLimits {
  const { maxRetries, deadlineMs, attemptTimeoutMs } = options;
  checkOptions(callLimitsSchema, options);
  return {
    ...(maxRetries !== undefined && { maxRetries }),
    ...(deadlineMs !== undefined && { deadlineMs }),
    ...(attemptTimeoutMs !== undefined && { attemptTimeoutMs }),
  };
}

/** The question limits in the options, checked. */
export function readQuestionLimits({ questionLimits = {} }: EvaluatorOptions): QuestionLimits {
  checkOptions(questionLimitsSchema, questionLimits);
  return questionLimits;
}

/** The pacer in the options, or one for the limits of the options or the transport. */
export function readPacer(
  { pacer, limits }: EvaluatorOptions,
  { transport, clock, random }: { transport: Transport; clock: Clock; random: () => number },
): Pacer {
  if (pacer !== undefined) return pacer;
  const known = limits ?? transport.limits ?? {};
  checkOptions(rateLimitsSchema, known);
  return createPacer(known, { clock, random });
}
