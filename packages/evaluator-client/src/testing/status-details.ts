import type { StatusError } from "../errors.ts";

type StatusErrorDetails = ConstructorParameters<typeof StatusError>[1];

/** Returns the details of an error status of which the service says nothing else. */
export function statusDetails(
  status: number,
  changes: Partial<StatusErrorDetails> = {},
): StatusErrorDetails {
  const ids = { type: null, requestId: null, generationId: null };
  const rest = { isRetryable: true, retryAfterMs: null, needsPaidCredits: false };
  return { status, ...ids, ...rest, ...changes };
}
