import type { Questions } from "../questions/kinds.ts";
import type { EvaluationRequest, QuestionProblem } from "../questions/request.ts";
import type { ImageSupport } from "../questions/state.ts";
import type { Clock } from "../clock.ts";
import type { Abortable } from "../http/http-client.ts";
import type { ResponseHeaders } from "../http/http-response.ts";
import type { RateLimits } from "../pacing/rate-limits.ts";
import type { ProviderOptions } from "./provider-options.ts";

/** One whole response in the gateway's form, with unchecked answers. */
export interface TransportReply {
  /** The response body in the gateway's form, unchecked. */
  readonly response: unknown;
  /** The HTTP status, if any. */
  readonly status?: number;
  /** The response's headers, if any. */
  readonly headers?: ResponseHeaders;
  /** The model that answered, or null if the service does not report it. */
  readonly modelId: string | null;
  /** The service's id of the request, or null. */
  readonly requestId: string | null;
  /** The unchanged response body. */
  readonly raw: unknown;
  /** Whether the wire defines `confidence`; if not, evaluations have none. @default true */
  readonly definesConfidence?: boolean;
  /** The price in US dollars or null, if the body does not contain it. */
  readonly costUsd?: number | null;
}

/** The destination of a transport; questions and target together decide the answers. */
export interface TransportTarget {
  readonly url: string;
  readonly modelId: string;
  /** The version of its prompts, if it writes prompts. */
  readonly format?: string;
}

/** An estimate of one evaluation. */
export interface CallEstimate {
  /** Calls of the model, at most. */
  readonly calls: number;
  /** Input tokens of all calls together. */
  readonly inputTokens: number;
  /** Output tokens of all calls together, if they cost money. @default 0 */
  readonly outputTokens?: number;
  /** The most input tokens of all calls together, for a limit that must hold. @default twice the estimate */
  readonly mostInputTokens?: number;
}

/** The parts of an attempt that a transport uses. */
export interface AttemptContext extends Abortable {
  /** The clock for dates in response headers. */
  readonly clock: Clock;
  /** Headers that this call adds to those of the transport. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Options of this call for the service, checked by the transport. */
  readonly providerOptions?: ProviderOptions | undefined;
  /** Sends one of several requests as soon as the limits allow it; the attempt's own time does not count that wait. */
  inTurn?<TValue>(signal: AbortSignal, send: () => Promise<TValue>): Promise<TValue>;
}

/**
 * One way to reach an evaluation model.
 *
 * `send` makes one request, or several if each question is its own. It returns a whole reply or throws
 * an `EvaluatorError` (or the signal's reason). It never retries, never returns or repairs partial
 * answers, and never puts a key, a header value or the state into an error.
 */
export interface Transport {
  /** A short name for messages, such as `gateway`. */
  readonly name: string;
  /** Where requests go, and the model they name; for traces. */
  readonly target?: TransportTarget;
  /** The form of its requests if it is not the gateway's, such as "decisions"; for traces. */
  readonly wire?: string;
  /** The service's known limits. */
  readonly limits?: RateLimits;
  /** Which images a state may hold. @default none, and a state is no list of parts */
  readonly images?: ImageSupport;
  /** Throws a `ConfigurationError` for wrong options of a call. @default a call may have none */
  checkProviderOptions?(options: ProviderOptions): void;
  /** Returns the first question that the service does not take, or null; its limits replace the usual ones. */
  readonly problemWith?: (questions: Questions) => QuestionProblem | null;
  /** The most tokens of a state that the service reads; a longer one is refused. @default unknown */
  readonly mostStateTokens?: number;
  /** The price of a million input tokens in US dollars, if it is known beforehand. */
  readonly usdPerMillionTokens?: number;
  /** Estimates one evaluation, if it is not one call of the request's size. */
  estimate?(request: EvaluationRequest): CallEstimate;
  /** Sends one request and reads its whole response. */
  send(request: EvaluationRequest, context: AttemptContext): Promise<TransportReply>;
  /** Closes the transport's own connections after their requests end; it sends nothing afterwards. */
  close?(): Promise<void>;
}
