import {
  AuthenticationError,
  RateLimitError,
  StatusError,
  type StatusErrorDetails,
} from "../../errors.ts";
import {
  commonStatusDetails,
  nextStep,
  passOnName,
  quoteServerText,
  type StatusFailure,
  statusMessage,
} from "../status-failure.ts";
import { textAt } from "../../value-at.ts";
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
  const advice = type === "max_tokens_exceeded" ? tooManyTokens : ownAdvice(status, said);
  const message = statusMessage("The vendor's API", details, { words, advice });
  return new (classFor(status))(message, details);
}

const tooManyTokens =
  "The state and its questions are too long: at most 32k tokens for the state with the longest question, 64k in all. Cut the state or ask fewer questions.";

/** What to do where servers that speak the wire differ from the vendor. */
function ownAdvice(status: number, said: string | null): string {
  if (status === 501) {
    return "This server runs a model that is no decision model: load one there, or read a chat model with logprobsTransport.";
  }
  const isAboutOptions = /option|choice|criteria|label/i.test((said ?? "").slice(0, 2000));
  if ((status === 400 || status === 422) && isAboutOptions) {
    return "Where it is about how many: Ollama takes 2 to 26 options, vLLM 26 and some hosted servers 208, while the vendor takes 255. Ask with fewer, or set questionLimits.maxOptions so that more are refused before sending.";
  }
  return nextStep(status);
}

function classFor(status: number): typeof StatusError {
  if (status === 401 || status === 403) return AuthenticationError;
  return status === 429 || status === 529 ? RateLimitError : StatusError;
}

function readDetail(json: unknown): { type: string | null; said: string | null } {
  const detail = directErrorBodySchema.safeParse(json).data?.detail;
  // Other servers that speak the wire answer as their chat does.
  if (detail === undefined) {
    const said = textAt(json, "error", "message") ?? textAt(json, "error");
    return { type: textAt(json, "error", "type"), said };
  }
  if (typeof detail === "string") return { type: null, said: detail };
  if (!Array.isArray(detail)) {
    return { type: detail.error_type, said: detail.message ?? null };
  }
  // A field error also echoes the input, which must not be repeated.
  const said = detail.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join("; ");
  return { type: null, said };
}
