import { isRecord } from "evaluator-kit";
import failureStatuses from "./failure-statuses.json" with { type: "json" };

/** A reply that broke off, grew too large or is an error; the message is the router's own or the service's. */
export class BrokenReplyError extends Error {
  override readonly name = "BrokenReplyError";
  /** The status that the service's error means; absent if it names none. */
  readonly statusCode?: number;
  /** Whether the same model may be asked again. */
  readonly isRetryable: boolean = false;

  constructor(message: string, { status, ...options }: ErrorOptions & { status?: number } = {}) {
    super(message, options);
    if (status === undefined) return;
    this.statusCode = status;
    this.isRetryable = status >= 500 || [408, 409, 429].includes(status);
  }
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

/** The message of a body that is no reply. */
export const noReply =
  "The model's service answered without a reply, such as with a page or an empty body; check its address.";

/** The status that an error of a service means, by its type or code. */
const statusesByName: Readonly<Record<string, number>> = failureStatuses;

/** Returns the failure that a service sent as an event or a body, with whichever status; null if it is none. */
export function serviceFailure(replyValue: unknown): BrokenReplyError | null {
  const { error, type, response, choices } = Object(replyValue) as Record<string, unknown>;
  const [firstChoice] = Array.isArray(choices) ? (choices as unknown[]) : [];
  const { finish_reason: reason, error: ofChoice } = Object(firstChoice) as Record<string, unknown>;
  const responseFields = Object(response ?? replyValue) as Record<string, unknown>;
  const isFailed = type === "response.failed" || responseFields["status"] === "failed";
  const reportedError = error || ofChoice || (isFailed ? responseFields["error"] : null);
  if (reportedError) return toBrokenReply(reportedError);
  if (type === "error" || isFailed) return toBrokenReply(replyValue);
  const isLost = typeof reason === "string" && /^(?:error|malformed_function_call)$/i.test(reason);
  return isLost ? new BrokenReplyError(`The reply broke off: it ended with ${reason}.`) : null;
}

/** Returns an error of a service, which is a text or an object with a message. */
export function toBrokenReply(errorJson: unknown): BrokenReplyError {
  const { message, type, code, status } = isRecord(errorJson) ? errorJson : { message: errorJson };
  const reasonText =
    typeof message === "string" && message !== "" ? message : "its service gave no reason.";
  const codes = [code, status, type].map((each) => statusesByName[String(each)] ?? Number(each));
  const knownStatus = codes.find((statusCode) => statusCode >= 400 && statusCode < 600);
  return new BrokenReplyError(
    `The reply broke off: ${reasonText}`,
    knownStatus ? { status: knownStatus } : {},
  );
}
