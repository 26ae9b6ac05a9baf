import type {
  FinishReason,
  LanguageModelCallOptions,
  LanguageModelMiddleware,
  ModelMessage,
} from "ai";
import type { BilledTokens, TokenUsage } from "../prices/tokens.ts";

/** What a model is asked: one message alone, or a conversation as it was sent. */
export type ReplyPrompt = string | readonly ModelMessage[];

/** Temperature, stop words and the like; none means the model's own. */
export type ReplySettings = Partial<LanguageModelCallOptions>;

type TransformParams = NonNullable<LanguageModelMiddleware["transformParams"]>;
type CallOptions = Parameters<TransformParams>[0]["params"];

/** What a reply may be besides text, in the words of the language model specification. */
export type ReplyForm = Pick<
  CallOptions,
  "tools" | "toolChoice" | "responseFormat" | "providerOptions"
>;

/** A call of one of the client's tools. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** The arguments as the model wrote them, JSON or not. */
  readonly arguments: string;
}

/** A piece of a tool call while it comes. */
export interface ToolCallDelta {
  /** Which of the reply's tool calls, from 0. */
  readonly index: number;
  /** With the first piece only. */
  readonly id?: string;
  /** With the first piece only. */
  readonly name?: string;
  /** What is added to the arguments. */
  readonly arguments: string;
}

/** What the reply model gave, or how it failed. */
export interface Reply {
  /** Time of the reply call, in whole milliseconds. */
  readonly replyMs: number;
  /** The reply's text; empty when the call failed, and when the text was streamed. */
  readonly reply: string;
  /** Why the call failed, or null. */
  readonly replyError: string | null;
  /** Tokens of the reply call; null when it failed. */
  readonly usage: TokenUsage | null;
}

/** The HTTP error that the reply model's service answered a call with. */
export interface ReplyHttpError {
  /** The HTTP status that it answered. */
  readonly status: number;
  /** Its own word for programs, such as `context_length_exceeded`, or null. */
  readonly code: string | null;
  /** Its `Retry-After`, or null where it says none. */
  readonly retryAfter: string | null;
}

/** A reply, why it ended, and what it has to be paid for. */
export interface GeneratedReply extends Reply {
  /** Null when the call failed. */
  readonly finishReason: FinishReason | null;
  /** Null when nothing was billed: the model rejected the call. */
  readonly billed: BilledTokens | null;
  /** The HTTP error of a failed call, or null. */
  readonly httpError: ReplyHttpError | null;
  /** Calls of the client's tools; none where they were streamed. */
  readonly toolCalls: readonly ToolCall[];
}
