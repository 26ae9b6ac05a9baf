import {
  AuthenticationError,
  RateLimitError,
  StatusError,
  type StatusErrorDetails,
} from "../../errors.ts";
import { quoteServerText } from "../../http/quote-server-text.ts";
import {
  commonStatusDetails,
  nextStep,
  passOnName,
  type StatusFailure,
  statusMessage,
} from "../status-failure.ts";
import { directRequestId } from "./direct-mapping.ts";
import { directErrorBodySchema } from "./direct-wire.ts";

/** Turns an error status of the vendor's API into the error to throw (field facts). */
export function toDirectError(failure: StatusFailure): StatusError {
  const { status, json } = failure.response;
  const { type, said } = readDetail(json);
  const details: StatusErrorDetails = {
    ...commonStatusDetails(failure),
    type: passOnName(type, failure),
    requestId: directRequestId(failure.response),
    generationId: null,
    needsPaidCredits: status === 402,
  };
  const words = quoteServerText(said, failure);
  const advice = type === "max_tokens_exceeded" ? tooManyTokens : nextStep(status);
  const message = statusMessage("The vendor's API", details, { words, advice });
  return new (classFor(status))(message, details);
}

const tooManyTokens =
  "The state and its questions are too long: at most 32k tokens for the state with the longest question, 64k in all. Cut the state or ask fewer questions.";

function classFor(status: number): typeof StatusError {
  if (status === 401 || status === 403) return AuthenticationError;
  return status === 429 || status === 529 ? RateLimitError : StatusError;
}

function readDetail(json: unknown): { type: string | null; said: string | null } {
  const detail = directErrorBodySchema.safeParse(json).data?.detail;
  if (detail === undefined) return { type: null, said: null };
  if (typeof detail === "string") return { type: null, said: detail };
  if (!Array.isArray(detail)) {
    return { type: detail.error_type, said: detail.message ?? null };
  }
  // A field error also echoes the input, which must not be repeated.
  const said = detail.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join("; ");
  return { type: null, said };
}
