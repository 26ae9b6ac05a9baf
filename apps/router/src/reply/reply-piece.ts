import type { LanguageModelV4FinishReason, SharedV4ProviderMetadata } from "@ai-sdk/provider";
import type { TokenUsage } from "./usage.ts";

/**
 * A piece of a streamed reply, without secrets. Pieces with one key are one block of the reply: it
 * begins with its first piece. Pieces of several tool calls may interleave.
 */
export type ReplyPiece = TextPiece | ReasoningPiece | ToolCallPiece;

interface PieceBase {
  /** Names the block within the reply. */
  readonly key: string;
}

/** Text to append. */
export interface TextPiece extends PieceBase {
  readonly type: "text";
  readonly text: string;
}

/** Reasoning to append. */
export interface ReasoningPiece extends PieceBase {
  readonly type: "reasoning";
  readonly text: string;
  /** In the block's last piece, if at all. */
  readonly signature?: Signature;
}

/** Arguments to append to a tool call. */
export interface ToolCallPiece extends PieceBase {
  readonly type: "toolCall";
  /** Id and name are in the block's first piece only; a missing id was made up, once for the reply. */
  readonly id?: string;
  readonly name?: string;
  readonly text: string;
  readonly signature?: Signature;
}

/** A provider's proof of a part of the reply. */
export interface Signature {
  /** For the client: opaque, unchanged. */
  readonly value: string;
  /** All of the provider's values for the part. */
  readonly metadata: SharedV4ProviderMetadata;
}

/** The end of a reply that succeeded. */
export interface ReplyEnd {
  readonly finishReason: LanguageModelV4FinishReason["unified"];
  readonly usage: TokenUsage;
}
