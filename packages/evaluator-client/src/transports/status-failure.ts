import type { StatusErrorDetails } from "../errors.ts";
import { headerOf } from "../http/http-client.ts";
import type { JsonResponse } from "../http/json-response.ts";
import { type PrivateText, quoteServerText } from "../http/quote-server-text.ts";
import { isRetryableStatus } from "../retry/classify-failure.ts";
import type { Clock } from "../retry/clock.ts";
import { parseRetryAfterMs } from "../retry/parse-retry-after.ts";

/** A response with an error status, and what its error may and may not say. */
export interface StatusFailure extends PrivateText {
  readonly response: JsonResponse;
  readonly clock: Clock;
}

/** The details of a status error that both services give in the same way. */
export function commonStatusDetails({ response, clock }: StatusFailure) {
  const { status } = response;
  const header = (name: string) => headerOf(response, name);
  return {
    status,
    isRetryable: isRetryableStatus(status, header("x-should-retry")),
    retryAfterMs: parseRetryAfterMs(header, clock.epochNow()),
  } satisfies Partial<StatusErrorDetails>;
}

/** A server's name or id for something: passed on when it looks like one and repeats nothing private. */
export function passOnName(name: string | null | undefined, failure: StatusFailure): string | null {
  const isName = typeof name === "string" && /^\w{1,60}$/.test(name);
  return isName && quoteServerText(name, failure) !== null ? name : null;
}

/** The message of a status error: who answered what, in whose words, and what to do next. */
export function statusMessage(
  who: string,
  { status, type }: Pick<StatusErrorDetails, "status" | "type">,
  { words, advice }: { words: string | null; advice: string },
): string {
  const answered = `${who} answered ${status}${type === null ? "" : ` (${type})`}`;
  return words === null ? `${answered}. ${advice}` : `${answered}: ${words} ${advice}`;
}

/** What to do about an error status, when the service's own words do not say it. */
export function nextStep(status: number): string {
  if (status === 0 || (status >= 300 && status <= 399)) {
    return "Redirects are not followed; set the base URL to the final address.";
  }
  if (status === 401 || status === 403) return "Check the key, and that it may use this model.";
  if (status === 402) return "Add credits to the account.";
  if (status === 404) return "Check the base URL and the model id.";
  if (status === 413) return "Send a smaller state.";
  if (status === 429 || status === 529) return "Wait, or send fewer requests at once.";
  if (status >= 500) return "The service failed; try again later.";
  return "Check the request against the service's documentation.";
}
