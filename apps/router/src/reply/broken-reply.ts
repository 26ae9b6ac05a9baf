/** A reply that broke off or grew too large; the message is the router's own. */
export class BrokenReplyError extends Error {
  override readonly name = "BrokenReplyError";
}

/** The largest reply: bytes of text, or of a whole body. Chosen: no model writes as much. */
export const MAX_REPLY_BYTES = 16 * 1024 * 1024;

/** The message of a reply over the limit. */
export const tooLarge = `The reply was ended: it is over ${MAX_REPLY_BYTES / 1024 / 1024} MiB, the router's limit.`;

/** The message of a reply with an invalid event. */
export const notJson = "The reply broke off: the model's service sent an event that is not JSON.";

/** The message of a reply without its end. */
export const brokenOff =
  "The reply broke off: the connection to the model's service ended before the reply did. Send the message again for a whole one.";
