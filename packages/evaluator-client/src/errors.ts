/** Options of every error of this package. */
export interface EvaluatorErrorOptions {
  /** The lower-level error, when showing it leaks neither key nor state. */
  cause?: unknown;
  /** Whether sending the same request again may help. @default false */
  isRetryable?: boolean;
}

/** The root of every error this package throws, apart from a caller's own abort reason. */
export class EvaluatorError extends Error {
  /** Whether sending the same request again may help. */
  readonly isRetryable: boolean;
  /** How many requests were sent before this error was thrown. */
  readonly attempts: number = 0;

  constructor(message: string, { cause, isRetryable = false }: EvaluatorErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.isRetryable = isRetryable;
  }

  /** Errors of other copies count too: a dependency may have its own, and jest loads modules again. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    let one = (value as EvaluatorError | null | undefined)?.attempts === undefined ? null : value;
    while (one !== null && one?.constructor?.name !== this.name) one = Object.getPrototypeOf(one);
    return one !== null;
  }
}

/** An option or environment variable is missing or wrong; nothing was sent. */
export class ConfigurationError extends EvaluatorError {
  /** The option to set, as the caller writes it. */
  readonly option: string;
  /** The environment variable that sets the same thing, or null when there is none. */
  readonly environmentVariable: string | null;

  constructor(message: string, details: { option: string; environmentVariable?: string | null }) {
    super(message);
    this.option = details.option;
    this.environmentVariable = details.environmentVariable ?? null;
  }
}

/** The request cannot be answered as written; nothing was sent. */
export class InvalidRequestError extends EvaluatorError {
  /** The question at fault, or null when the state or the request as a whole is. */
  readonly questionId: string | null;

  constructor(message: string, details: { questionId?: string | null } = {}) {
    super(message);
    this.questionId = details.questionId ?? null;
  }
}

/** No usable response arrived: DNS, refused, reset, cut off, unreadable. */
export class ConnectionError extends EvaluatorError {
  /** Whether the service may have worked, and charged, for the lost answer. */
  readonly maybeBilled: boolean;

  constructor(message: string, details: EvaluatorErrorOptions & { maybeBilled: boolean }) {
    super(message, details);
    this.maybeBilled = details.maybeBilled;
  }
}

/** Which time limit passed, and whether anything was sent by then. */
export interface TimeoutErrorDetails {
  timeoutMs: number;
  limit: "attempt" | "deadline";
  maybeBilled: boolean;
  retryAfterMs?: number | null;
  cause?: unknown;
}

/** A time limit of this client passed before a whole response arrived. */
export class TimeoutError extends ConnectionError {
  /** The limit that passed, in milliseconds. */
  readonly timeoutMs: number;
  /** Which limit it was: one attempt's, or the one over all attempts and waits. */
  readonly limit: "attempt" | "deadline";
  /** The rest of a pause after a rate limit if that is the reason, in milliseconds, or null. */
  readonly retryAfterMs: number | null;

  constructor(message: string, details: TimeoutErrorDetails) {
    const { maybeBilled, limit, cause } = details;
    super(message, { maybeBilled, isRetryable: limit === "attempt", cause });
    this.timeoutMs = details.timeoutMs;
    this.limit = details.limit;
    this.retryAfterMs = details.retryAfterMs ?? null;
  }
}

/** The details of a response with an error status. */
export interface StatusErrorDetails extends EvaluatorErrorOptions {
  /** HTTP status code. */
  status: number;
  /** The service's own error type, such as `rate_limit_exceeded`, or null. */
  type: string | null;
  /** The service's id of the request, or null. */
  requestId: string | null;
  /** The gateway's id of the generation (`gen_…`), or null. */
  generationId: string | null;
  /** The wait that the service asks for, in milliseconds, or null. */
  retryAfterMs: number | null;
  /** Whether buying credits is the way on (contract section 7). */
  needsPaidCredits: boolean;
  /** Whether the service wants another attempt (`x-should-retry`), or null. */
  shouldRetry?: boolean | null;
}

/** The service answered with an error status. */
export class StatusError extends EvaluatorError implements StatusErrorDetails {
  readonly status: number;
  readonly type: string | null;
  readonly requestId: string | null;
  readonly generationId: string | null;
  readonly retryAfterMs: number | null;
  readonly needsPaidCredits: boolean;
  readonly shouldRetry: boolean | null;

  constructor(message: string, details: StatusErrorDetails) {
    super(message, details);
    this.status = details.status;
    this.type = details.type;
    this.requestId = details.requestId;
    this.generationId = details.generationId;
    this.retryAfterMs = details.retryAfterMs;
    this.needsPaidCredits = details.needsPaidCredits;
    this.shouldRetry = details.shouldRetry ?? null;
  }
}

/** The key is missing, wrong or not allowed (401, 403). */
export class AuthenticationError extends StatusError {}

/** The service is over a rate limit or overloaded (429, 529). */
export class RateLimitError extends StatusError {}

/** A rate limit met at the gateway, and its free tier's refusal of a model, which credits lift too (contract section 7). */
export class GatewayRateLimitError extends RateLimitError {}

/** A successful status whose body breaks the contract; the answer is not used. */
export class InvalidResponseError extends EvaluatorError {
  /** The question whose answer is wrong, or null when the whole body is. */
  readonly questionId: string | null;
  /** The rule that was broken, such as `probabilities-sum`. */
  readonly rule: string;

  constructor(message: string, details: { questionId: string | null; rule: string }) {
    super(message);
    this.questionId = details.questionId;
    this.rule = details.rule;
  }
}

/** Who answered the questions that were not refused. */
export interface RefusalRest {
  readonly transport: string;
  readonly modelId: string | null;
  readonly confidence: Readonly<Record<string, number | null>>;
  readonly rounding: { probabilityDecimals: number; scoreDecimals: number; sumError?: number };
  readonly warnings: readonly unknown[];
}

/** The model declined to answer at least one question. */
export class RefusalError extends EvaluatorError {
  /** The ids of the refused questions. */
  readonly questionIds: readonly string[];
  /** The checked answers to the other questions by id, which were paid for. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** Tokens of the whole call, or null if unknown. */
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number } | null = null;
  /** Price of the whole call in US dollars, or null if unknown. */
  readonly costUsd: number | null = null;
  /** Who answered the other questions, and the rounding of these answers; null if unknown. */
  readonly rest: RefusalRest | null = null;

  constructor(
    message: string,
    details: {
      questionIds: readonly string[];
      answers?: Readonly<Record<string, unknown>>;
    },
  ) {
    super(message);
    this.questionIds = details.questionIds;
    this.answers = details.answers ?? {};
  }
}
