import type { Conversation } from "../conversation/conversation.ts";
import type { HttpError } from "../http-error.ts";
import type { ClientApiType } from "../conversation/upstream-types.ts";
import type { PassedRequest } from "../reply/passed-request.ts";
import type { Capabilities } from "../reply/upstream.ts";
import type { ReplyEnd, ReplyPiece } from "../reply/reply-piece.ts";
import type { ServerEvent } from "../routes/event-stream.ts";

/** One of the APIs that clients speak: a pair of pure functions, from a request and to a reply. */
export interface Api {
  /** The type of an upstream that takes a body unchanged. */
  readonly upstreamType: ClientApiType;
  /** The endpoint in the decision log. */
  readonly name: string;
  readonly path: string;
  /** A header that only its clients send, also to `/v1/models`; null if there is none. */
  readonly ownHeader: string | null;
  /** The path that counts the tokens of a body, with the fields that clients leave out there; null if there is none. */
  readonly count: { readonly path: string; readonly absent: object } | null;
  /** The status of an overloaded service. */
  readonly overloadedStatus: 503 | 529;
  /** The values of fields with which no token costs more than its price. */
  readonly cheapValues: Readonly<Record<string, readonly unknown[]>>;
  /** The client's own model names, which mean `auto` or the cheapest tier. */
  readonly clientModels: RegExp;
  /** Reads a body. @throws HttpError (400) with the path of a wrong field, and an alternative. */
  readonly read: (requestBody: unknown) => ApiRequest;
  /** Creates the writer of one reply. */
  readonly write: (replyHead: ReplyHead, request: ApiRequest) => ReplyWriter;
  readonly modelList: ModelListForm;
  /** Returns an error in this API's form. */
  readonly error: (message: string, status: number, details?: ErrorDetails) => object;
}

/** How an API writes the list of models. */
export interface ModelListForm {
  /** Returns a text model with its known capabilities. */
  readonly toReplyModel: (modelId: string, capabilities: Capabilities) => ListedModel;
  readonly toDecisionModel: (modelId: string) => ListedModel;
  /** Returns the list; the last of its models are the decision models. */
  readonly toList: (models: readonly ListedModel[], decisionModels: readonly string[]) => object;
}

interface ListedModel {
  readonly id: string;
}

/** Further parts of an error, for APIs with a place for them. */
export type ErrorDetails = Pick<HttpError["details"], "param" | "code" | "path">;

/** A request of a client. */
export interface ApiRequest extends Pick<PassedRequest, "body" | "unsupported" | "isLocal"> {
  readonly model: string;
  readonly conversation: Conversation;
  readonly isStreamed: boolean;
  /** Returns the part of the body that a key with tiers or a budget may pass, and the names of the other fields. */
  readonly allowed: () => Pick<PassedRequest, "body"> & {
    readonly droppedFields: readonly string[];
  };
  /** The names of the repairs of its history. */
  readonly repairs: readonly string[];
  /** The fields that neither the conversation nor the reply needs, by path. */
  readonly unread: readonly string[];
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
  readonly end: (replyEnd: ReplyEnd) => readonly ServerEvent[];
  /** The last event after a failure; `passed` is the last text that the service sent in the client's form. */
  readonly fail: (message: string, status: number, passedText?: string) => readonly ServerEvent[];
  /** Returns the whole reply after {@link add} and {@link end}, as one body. */
  readonly whole: () => object;
}
