import {
  AuthenticationError,
  GatewayRateLimitError,
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
import { gatewayRequestId } from "./gateway-mapping.ts";
import { gatewayErrorBodySchema, type GatewayWire } from "./gateway-wire.ts";

/**
 * Turns an error status of the gateway into the error to throw (contract section 7, field facts).
 *
 * @param wire - The generation that was spoken, or null where there is only one.
 */
export function toGatewayError(failure: StatusFailure, wire: GatewayWire | null): StatusError {
  const { status, json } = failure.response;
  const body = gatewayErrorBodySchema.safeParse(json).data;
  const details: StatusErrorDetails = {
    ...commonStatusDetails(failure),
    type: passOnName(body?.error.type, failure),
    requestId: gatewayRequestId(failure.response),
    generationId: passOnName(body?.generationId, failure),
    needsPaidCredits: status === 402 || /free[ -]tier/i.test(body?.error.message ?? ""),
  };
  const words = quoteServerText(body?.error.message, failure);
  const message = statusMessage("The gateway", details, { words, advice: advice(details, wire) });
  return new (classFor(details))(message, details);
}

function classFor({ status, type }: StatusErrorDetails): typeof StatusError {
  if (type === "rate_limit_exceeded" || status === 429) return GatewayRateLimitError;
  if (type === "authentication_error") return AuthenticationError;
  if (type === "invalid_request_error" || type === "model_not_found") return StatusError;
  if (status === 529) return RateLimitError;
  return status === 401 || status === 403 ? AuthenticationError : StatusError;
}

function advice(
  { status, needsPaidCredits }: StatusErrorDetails,
  wire: GatewayWire | null,
): string {
  if (needsPaidCredits) return "Buy credits for the account to go on.";
  if (wire === null || (status !== 400 && status !== 404)) return nextStep(status);
  const other = wire === "evaluation-model" ? "decision-model" : "evaluation-model";
  const hint = `If the gateway speaks the other generation, set the option wire: "${other}".`;
  return `${nextStep(status)} ${hint}`;
}
