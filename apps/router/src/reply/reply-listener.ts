import type { ReplyPiece } from "./reply-piece.ts";

/** Thrown by a listener to end the reply with the finish reason `length`. */
export class ReplyLimitError extends Error {
  override readonly name = "ReplyLimitError";
}

/** Receives a reply; no more of it is read until a call is done. */
export interface ReplyListener {
  readonly onPieces: (pieces: readonly ReplyPiece[]) => void | Promise<void>;
  /** Called in place of `onPieces` if the upstream speaks the client's API, with text to send unchanged. */
  readonly onBytes: (text: string) => void | Promise<void>;
}
