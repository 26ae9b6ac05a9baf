import * as z from "zod/mini";
import { apiKeyVariables, environmentNames } from "../../environment.ts";
import { AuthenticationError, GatewayRateLimitError, StatusError } from "../../errors.ts";
import { headerOf } from "../../http/http-response.ts";
import { readBaseUrl, readHeaderOption, type TransportOptions } from "../post-transport.ts";
import { nextStep, type StatusFailure, toStatusError } from "../status-failure.ts";

interface GatewayAccess extends Pick<TransportOptions, "env"> {
  readonly apiKey?: string;
  readonly baseUrl?: string;
}

/** Returns the gateway key of the options or the environment. */
export function readGatewayKey(options: GatewayAccess): string {
  return readHeaderOption(options, "apiKey", { variable: apiKeyVariables.gateway });
}

/** Returns the gateway's base URL of the options or the environment, path prefix included. */
export function readGatewayBaseUrl(options: GatewayAccess): string {
  const variable = environmentNames.gatewayBaseUrl;
  return readBaseUrl(options, { variable, fallback: "https://ai-gateway.vercel.sh/v4/ai" });
}

/** The gateway's error body (field facts). */
const gatewayErrorBodySchema = z.looseObject({
  error: z.looseObject({ message: z.string(), type: z.nullish(z.string()) }),
  generationId: z.nullish(z.string()),
});

/** Makes the error for an error status (contract section 7, field facts); `hint` follows the advice for a 400 or 404. */
export function toGatewayError(failure: StatusFailure, hint = ""): StatusError {
  const { response } = failure;
  const { status, json } = response;
  const body = gatewayErrorBodySchema.safeParse(json).data;
  const needsPaidCredits = status === 402 || /free[ -]tier/i.test(body?.error.message ?? "");
  const ofPath = status === 400 || status === 404 ? hint : "";
  return toStatusError(failure, {
    service: "The gateway",
    type: body?.error.type,
    text: body?.error.message,
    requestId: headerOf(response, "x-request-id", "x-vercel-id"),
    generationId: body?.generationId,
    needsPaidCredits,
    advice: needsPaidCredits ? "Buy credits for the account to go on." : nextStep(status) + ofPath,
    errorClass: errorClassFor(status, body?.error.type),
  });
}

function errorClassFor(status: number, type: string | null | undefined) {
  if (type === "rate_limit_exceeded" || status === 429) return GatewayRateLimitError;
  if (type === "authentication_error") return AuthenticationError;
  const isRequest = type === "invalid_request_error" || type === "model_not_found";
  return isRequest ? StatusError : undefined;
}
