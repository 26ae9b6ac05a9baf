import {
  AuthenticationError,
  RateLimitError,
  StatusError,
  type StatusErrorDetails,
} from "../../errors.ts";
import { headerOf } from "../../http/http-client.ts";
import {
  commonStatusDetails,
  nextStep,
  passOnName,
  quoteServerText,
  type StatusFailure,
  statusMessage,
} from "../status-failure.ts";
import { textAt } from "../../questions/json.ts";

/** Turns an error status of any chat server into the error to throw. */
export function toLogprobsError(failure: StatusFailure): StatusError {
  const { status, json } = failure.response;
  const said = textAt(json, "error", "message") ?? textAt(json, "error") ?? plainText(json);
  const type = textAt(json, "error", "type") ?? textAt(json, "type");
  const details: StatusErrorDetails = {
    ...commonStatusDetails(failure),
    type: passOnName(type, failure),
    requestId: headerOf(failure.response, "x-request-id"),
    generationId: null,
    needsPaidCredits: status === 402,
  };
  const words = quoteServerText(said, failure);
  const message = statusMessage("The server", details, { words, advice: advice(status, said) });
  return new (classFor(status))(message, details);
}

function plainText(json: unknown): string | null {
  return textAt(json, "message") ?? textAt(json, "detail");
}

function classFor(status: number): typeof StatusError {
  if (status === 401 || status === 403) return AuthenticationError;
  return status === 429 || status === 529 ? RateLimitError : StatusError;
}

function advice(status: number, said: string | null): string {
  const about = (said ?? "").slice(0, 2000);
  if (status === 400 && /logprob/i.test(about)) {
    return "Choose a model that returns log-probabilities; a reasoning model does not.";
  }
  if (/context (length|size|window)|n_ctx|too many tokens/i.test(about)) {
    return "Send a smaller state, or start the server with a larger context.";
  }
  if (status === 404) return "Check the base URL and that the server has this model.";
  return nextStep(status);
}
