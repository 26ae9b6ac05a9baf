import { cutText } from "evaluator-client";

/** The longest message that is read, in UTF-16 code units (contract section 8). */
export const MAX_MESSAGE_LENGTH = 20_000;

/** Cuts a message to {@link MAX_MESSAGE_LENGTH}, or a little less where a character would be split. */
export function cutMessage(message: string): string {
  return cutText(message, MAX_MESSAGE_LENGTH);
}
