import type { LanguageModelV4FinishReason } from "@ai-sdk/provider";
import type { Signature } from "../conversation/signatures.ts";
import type { TokenUsage } from "./usage.ts";

/**
 * A piece of a streamed reply, without secrets. Pieces with one key are one block of the reply: it
 * begins with its first piece. Pieces of several tool calls may interleave.
 */
export type ReplyPiece = TextPiece | ReasoningPiece | ToolCallPiece;

interface PieceBase {
  /** Names the block within the reply. */
  readonly key: string;
  /** To append to the block's text, or to a call's arguments. */
  readonly text: string;
}

interface TextPiece extends PieceBase {
  readonly type: "text";
}

interface ReasoningPiece extends PieceBase {
  readonly type: "reasoning";
  /** In the block's last piece, if at all. */
  readonly signature?: Signature;
}

/** A piece of a tool call. */
export interface ToolCallPiece extends PieceBase {
  readonly type: "toolCall";
  /** Id and name are in the block's first piece only; a missing id was made up, once for the reply. */
  readonly id?: string;
  readonly name?: string;
  /** In the block's last piece, if at all. */
  readonly signature?: Signature;
}

/** The end of a reply that succeeded. */
export interface ReplyEnd {
  readonly finishReason: LanguageModelV4FinishReason["unified"];
  readonly usage: TokenUsage;
  /** The client's stop sequence that ended the reply; only Anthropic's models report it. */
  readonly stopSequence?: string | undefined;
}

/** Thrown by a listener to end the reply with the finish reason `length`. */
export class ReplyLimitError extends Error {
  override readonly name = "ReplyLimitError";
}

/**
 * Receives a part of a reply; no more of it is read until the call is done. A text is in the client's own
 * form, from an upstream that speaks it, to send unchanged.
 */
export type ReplyListener = (replyPart: readonly ReplyPiece[] | string) => void | Promise<void>;

/** Returns the text in a part of a reply, without reasoning and calls. */
export function textOfReply(replyPart: Parameters<ReplyListener>[0]): string {
  if (typeof replyPart === "string") return ""; // in the form of an API
  let joinedText = "";
  for (const replyPiece of replyPart) if (replyPiece.type === "text") joinedText += replyPiece.text;
  return joinedText;
}
