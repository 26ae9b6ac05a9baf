import { type Call, isVendorPath } from "../call.ts";
import { errorBodies, type Problem } from "../services/error-bodies.ts";
import { serviceAt } from "../services/services.ts";
import type { Fault } from "./fault.ts";

const message = "The emulator was asked for this error.";

/** Returns a response with the given status, in the error shape of the called side. */
export async function statusResponse(
  { status, retryAfter }: Extract<Fault, { kind: "status" }>,
  emulatedCall: Call,
): Promise<Response> {
  // The one status from 300 up with which a Response cannot be made with a body.
  if (status === 304) return new Response(null, { status });
  return await errorResponse({ status, message, retryAfter }, emulatedCall);
}

/** Returns the response to a call whose credit or allowance is used up. */
export function exhaustedResponse(emulatedCall: Call): Promise<Response> {
  return errorResponse({ status: 429, message, isExhausted: true }, emulatedCall);
}

async function errorResponse(serviceProblem: Problem, emulatedCall: Call): Promise<Response> {
  const modelService = await serviceAt(emulatedCall);
  if (modelService !== null) return modelService.toError(serviceProblem);
  if (!isVendorPath(emulatedCall.path)) return errorBodies.gateway(serviceProblem);
  const response = errorBodies.vendor(serviceProblem);
  response.headers.set("x-typesafe-request-id", "req_ASKEDFORBYTHEEMULATOR");
  return response;
}
