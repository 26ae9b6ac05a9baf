import type {
  FinishReason,
  LanguageModelCallOptions,
  LanguageModelMiddleware,
  ModelMessage,
} from "ai";
import type { BilledTokens, TokenUsage } from "./tokens.ts";

/** One message, or a conversation. */
export type ReplyPrompt = string | readonly ModelMessage[];

/** Temperature, stop words and other settings; the model's own by default. */
export type ReplySettings = Partial<LanguageModelCallOptions>;

type TransformParams = NonNullable<LanguageModelMiddleware["transformParams"]>;
type CallOptions = Parameters<TransformParams>[0]["params"];

/** Tools and response format, as the language model specification names them. */
export type ReplyForm = Pick<
  CallOptions,
  "tools" | "toolChoice" | "responseFormat" | "providerOptions"
>;

/** A call of one of the client's tools. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** The model's text, JSON or not. */
  readonly arguments: string;
}

/** A piece of a tool call; id and name are in the first piece only. */
export interface ToolCallDelta {
  /** The number of the tool call in the reply, from 0. */
  readonly index: number;
  readonly id?: string;
  readonly name?: string;
  /** The next part of the arguments. */
  readonly arguments: string;
}

/** A reply, or its failure. */
export interface Reply {
  /** Time of the reply call, in whole milliseconds. */
  readonly replyMs: number;
  /** Empty if the call failed or the text was streamed. */
  readonly reply: string;
  readonly replyError: string | null;
  /** Null if the call failed. */
  readonly usage: TokenUsage | null;
}

/** An HTTP error of the reply model's service. */
export interface ReplyHttpError {
  readonly status: number;
  /** Such as `context_length_exceeded`, or null. */
  readonly code: string | null;
  readonly retryAfter: string | null;
}

/** A reply with its end and its cost. */
export interface GeneratedReply extends Reply {
  /** Null if the call failed. */
  readonly finishReason: FinishReason | null;
  /** Null if the model rejected the call, which costs nothing. */
  readonly billed: BilledTokens | null;
  readonly httpError: ReplyHttpError | null;
  /** Empty if they were streamed. */
  readonly toolCalls: readonly ToolCall[];
}
