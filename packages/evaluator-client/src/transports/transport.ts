import type { EvaluationRequest } from "../questions/request.ts";
import type { ImageSupport } from "../questions/state.ts";
import type { ResponseHeaders } from "../http/http-client.ts";
import type { RateLimits } from "../pacing/rate-limits.ts";
import type { AttemptContext } from "../retry/attempt.ts";

/** One whole response in the gateway's form; its answers are not yet checked. */
export interface TransportReply {
  /** The response body mapped to the gateway's form, shape not yet checked. */
  readonly response: unknown;
  /** The HTTP status, when there was one. */
  readonly status?: number;
  /** The response's headers, when there were any. */
  readonly headers?: ResponseHeaders;
  /** The model that answered, or null when the service does not say. */
  readonly modelId: string | null;
  /** The service's id of the request, or null. */
  readonly requestId: string | null;
  /** The response body as it came. */
  readonly raw: unknown;
  /** Whether the wire defines what `confidence` is; where it does not, there is none. @default true */
  readonly definesConfidence?: boolean;
  /** The price in US dollars where the body does not carry it, or null. */
  readonly costUsd?: number | null;
}

/** Where a transport sends to, and what besides the questions decides its answers. */
export interface TransportTarget {
  readonly url: string;
  readonly modelId: string;
  /** The version of the prompts it writes, where it writes any. */
  readonly format?: string;
}

/** What one evaluation sends, by its length. */
export interface CallEstimate {
  /** Calls of the model, at most. */
  readonly calls: number;
  /** Input tokens of all calls together. */
  readonly inputTokens: number;
  /** Output tokens of all calls together, where they are paid for. @default 0 */
  readonly outputTokens?: number;
}

/**
 * One way to reach an evaluation model.
 *
 * `send` makes one request (or as many as its questions take, where each is one), never retries, and
 * either gives a whole reply or throws an `EvaluatorError` (or the signal's reason). It never gives partial answers, never repairs one,
 * and never lets a key, a header value or the state into an error.
 */
export interface Transport {
  /** A short name for messages, such as `gateway`. */
  readonly name: string;
  /** Where requests go, and the model they name; for traces. */
  readonly target?: TransportTarget;
  /** The service's known limits, when it has any. */
  readonly limits?: RateLimits;
  /** Which images a state may hold. @default none, and a state is no list of parts */
  readonly images?: ImageSupport;
  /** Estimates what one evaluation sends, where that is not one call of the request's own size. */
  estimate?(request: EvaluationRequest): CallEstimate;
  /** Sends one request and reads its whole response. */
  send(request: EvaluationRequest, context: AttemptContext): Promise<TransportReply>;
  /** Closes the connections that the transport owns, once its requests are over; it sends nothing after. */
  close?(): Promise<void>;
}
