import { baseUrlVariables, modelVariable, ownKeyVariables } from "../../environment.ts";
import { AuthenticationError, GatewayRateLimitError, StatusError } from "../../errors.ts";
import { findHeader } from "../../http/http-response.ts";
import { textAt } from "../../questions/json.ts";
import { noteOfOtherKey } from "../direct/other-keys.ts";
import {
  isAboutLength,
  nextStep,
  type StatusFailure,
  tooLong,
  toStatusError,
} from "../status-failure.ts";

/** The environment variables of the gateway's options, and their defaults. */
export const gatewaySources = {
  apiKey: { variable: ownKeyVariables.gateway, noteOfOtherKey },
  baseUrl: { variable: baseUrlVariables.gateway, fallback: "https://ai-gateway.vercel.sh/v4/ai" },
  modelId: { variable: modelVariable, fallback: "typesafe-ai/jev" },
};

/** Makes the error for an error status (contract section 7, field facts); `hint` follows the advice for a 400, 404 or 405. */
export function toGatewayError(failure: StatusFailure, hint = ""): StatusError {
  const { response } = failure;
  const { status, json } = response;
  // The field facts have the first form; the contract has none, and a provider's own body may come through.
  const text = textAt(json, "error", "message") ?? textAt(json, "error") ?? textAt(json, "message");
  const type = textAt(json, "error", "type");
  const isFreeTier = /free[ -]tier/i.test(text ?? "");
  const needsPaidCredits = status === 402 || isFreeTier;
  return toStatusError(failure, {
    service: "The gateway",
    type,
    text,
    requestId: findHeader(response, "x-request-id", "x-vercel-id"),
    generationId: textAt(json, "generationId"),
    needsPaidCredits,
    advice: needsPaidCredits
      ? "Buy credits for the account to go on."
      : adviceFor(status, [type, text], hint),
    errorClass: isFreeTier ? GatewayRateLimitError : errorClassFor(status, type),
  });
}

function adviceFor(status: number, [type, text]: readonly (string | null)[], hint: string) {
  if (type === "customer_verification_required") {
    return "The gateway wants the account verified first: add a payment card there; the key itself is right.";
  }
  if ((status === 400 || status === 413) && isAboutLength(text ?? null)) return tooLong;
  const isOfPath = status === 400 || status === 404 || status === 405;
  return nextStep(status) + (isOfPath ? hint : "");
}

function errorClassFor(status: number, type: string | null) {
  if (type === "rate_limit_exceeded" || status === 429) return GatewayRateLimitError;
  if (type === "authentication_error") return AuthenticationError;
  const isRequest = type === "invalid_request_error" || type === "model_not_found";
  return isRequest ? StatusError : undefined;
}
