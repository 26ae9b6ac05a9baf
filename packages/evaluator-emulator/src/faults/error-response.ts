import { type Call, isVendorPath } from "../call.ts";
import { gatewayError, type RequestError, vendorError } from "../request-error.ts";
import type { Problem, ToError } from "../services/error-bodies.ts";
import { serviceAt } from "../services/services.ts";
import type { Fault } from "./fault.ts";

const message = "The emulator was asked for this error.";

const gatewayTypes: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "insufficient_funds",
  403: "forbidden",
  404: "not_found",
  424: "failed_dependency",
  429: "rate_limit_exceeded",
};

/** Returns a response with the given status, in the error shape of the called side. */
export async function statusResponse(
  { status, retryAfter }: Extract<Fault, { kind: "status" }>,
  call: Call,
): Promise<Response> {
  if (status !== 304) return await errorResponse({ status, message, retryAfter }, call);
  // The one status from 300 up with which a Response cannot be made with a body.
  return new Response(null, { status });
}

/** Returns the response to a call whose credit or allowance is used up. */
export function exhaustedResponse(call: Call): Promise<Response> {
  return errorResponse({ status: 429, message, isExhausted: true }, call);
}

async function errorResponse(problem: Problem, call: Call): Promise<Response> {
  const service = await serviceAt(call);
  if (service !== null) return service.toError(problem);
  return isVendorPath(call.path) ? vendorProblem(problem) : gatewayProblem(problem);
}

const requestId = { "x-typesafe-request-id": "req_ASKEDFORBYTHEEMULATOR" };

const vendorProblem: ToError = ({ status, retryAfter }) =>
  withRetryAfter(vendorError(status, message, requestId), retryAfter);

/** A gateway account without credits gets 402, whatever the service's status would be. */
const gatewayProblem: ToError = ({ isExhausted = false, retryAfter, ...problem }) => {
  const status = isExhausted ? 402 : problem.status;
  const type = gatewayTypes[status] ?? "internal_server_error";
  return withRetryAfter(gatewayError(message, { status, type }), retryAfter);
};

function withRetryAfter({ response }: RequestError, retryAfter: number | undefined): Response {
  const headers = new Headers(response?.headers);
  if (retryAfter !== undefined) headers.set("retry-after", String(retryAfter));
  return new Response(response?.body, { status: response?.status ?? 500, headers });
}
