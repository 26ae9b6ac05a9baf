import { ConnectionError } from "../errors.ts";
import { billingOf, type HttpEndpoint, type HttpResponse, isSuccess } from "./http-client.ts";

/** A response together with its parsed JSON body. */
export interface JsonResponse extends HttpResponse {
  /** The parsed body; undefined when an error status came without JSON. */
  readonly json: unknown;
}

/**
 * Parses the body of a response of the endpoint.
 *
 * @throws ConnectionError when a success has an empty, cut or otherwise unparseable body.
 */
export function toJsonResponse(response: HttpResponse, endpoint: HttpEndpoint): JsonResponse {
  const { status, headers, text } = response;
  const json = parseJson(text);
  if (json === undefined && isSuccess(status)) throw unparseable(response, endpoint);
  return { status, headers, text, json };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the parser's own message quotes the body, so it goes no further
  }
}

function unparseable({ status, text }: HttpResponse, endpoint: HttpEndpoint): ConnectionError {
  const what = text === "" ? "an empty body" : `${text.length} characters that are not whole JSON`;
  const { maybeBilled, note } = billingOf(endpoint);
  const message = `The service answered ${status} with ${what}${note}. Check the base URL if this repeats.`;
  return new ConnectionError(message, { isRetryable: true, maybeBilled });
}
