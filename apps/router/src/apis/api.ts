import type { Conversation } from "../conversation/conversation.ts";
import type { UpstreamType } from "../conversation/to-call-options.ts";
import type { HttpError } from "../http-error.ts";
import type { ReplyEnd, ReplyPiece } from "../reply/reply-piece.ts";
import type { TokenUsage } from "../reply/usage.ts";
import type { ServerEvent } from "../routes/event-stream.ts";

/** One of the APIs that clients speak: a pair of pure functions, from a request and to a reply. */
export interface Api {
  /** The endpoint in the decision log. */
  readonly name: "openai" | "responses" | "messages";
  /** The type of an upstream that takes a request's bytes unchanged. */
  readonly upstreamType: UpstreamType;
  readonly path: string;
  /** The client's own model names, which mean `auto` or the cheapest tier. */
  readonly clientModels: RegExp;
  /** Reads a body. @throws HttpError (400) with the path of a wrong field, and an alternative. */
  readonly read: (body: unknown) => ApiRequest;
  /** Creates the writer of one reply. */
  readonly write: (head: ReplyHead, request: ApiRequest) => ReplyWriter;
  /** Reads the tokens of an upstream's event or body in this API's form; null if it has none. */
  readonly usageOf: (event: unknown) => TokenUsage | null;
  /** Returns an error in this API's form. */
  readonly error: (message: string, status: number, details?: ErrorDetails) => object;
}

/** Further parts of an error, for APIs with a place for them. */
export type ErrorDetails = Pick<HttpError["details"], "param" | "code">;

/** A request of a client. */
export interface ApiRequest {
  readonly model: string;
  readonly conversation: Conversation;
  readonly isStreamed: boolean;
  /** The fields that neither the conversation nor the reply needs, by path. */
  readonly unread: readonly string[];
  /** Thrown unless the upstream takes the body unchanged, for a field that the conversation cannot hold. */
  readonly unsupported: HttpError | null;
  /** The body unchanged, for an upstream of the same form and for the writer. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** The start of a reply. */
export interface ReplyHead {
  /** Letters, digits, `_` and `-`; ids of the reply are made from it. */
  readonly requestId: string;
  readonly model: string;
  /** Seconds since 1970. */
  readonly createdAt: number;
}

/** Writes one reply as events. The events of a whole reply are collected by {@link ReplyWriter.whole}. */
export interface ReplyWriter {
  readonly begin: () => readonly ServerEvent[];
  readonly add: (pieces: readonly ReplyPiece[]) => readonly ServerEvent[];
  readonly end: (end: ReplyEnd) => readonly ServerEvent[];
  /** The last event after a failure. */
  readonly fail: (message: string, status: number) => readonly ServerEvent[];
  /** Returns the whole reply after {@link add} and {@link end}, as one body. */
  readonly whole: () => object;
}
