import { stripVTControlCharacters } from "node:util";
import { APICallError, RetryError } from "ai";

const MAX_LENGTH = 1000;

/** Says in one plain line why the reply call failed, in the words of its last attempt. */
export function describeReplyFailure(error: unknown): string {
  const last = RetryError.isInstance(error) ? error.lastError : error;
  if (!(last instanceof Error)) return "The reply model failed without saying why.";
  if (isRefusedKey(last)) return "The gateway refused the key; check AI_GATEWAY_API_KEY.";
  if (last.name === "TimeoutError") return "The reply model took too long; try again later.";
  const line = stripVTControlCharacters(wordsOf(last)).replaceAll(/\s+/g, " ").trim();
  return line.slice(0, MAX_LENGTH) || `The reply model failed with ${last.name}.`;
}

/** The `ai` package replaces what the gateway said about a key with a page of terminal colours. */
function isRefusedKey({ name }: Error): boolean {
  return name === "GatewayAuthenticationError" || name === "GatewayError";
}

/** An answer that is not in the gateway's form is described by the call that got it. */
function wordsOf({ name, message, cause }: Error): string {
  if (name !== "GatewayResponseError" || !APICallError.isInstance(cause)) return message;
  return cause.statusCode === undefined
    ? cause.message
    : `${cause.message} (status ${cause.statusCode})`;
}
