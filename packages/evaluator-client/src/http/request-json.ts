import { ConnectionError } from "../errors.ts";
import { billingOf } from "./billing-of.ts";
import { type HttpClient, type HttpRequest, type HttpResponse, isSuccess } from "./http-client.ts";

/** A response together with its parsed JSON body. */
export interface JsonResponse extends HttpResponse {
  /** The parsed body; undefined when an error status came without JSON. */
  readonly json: unknown;
}

/**
 * Sends a request and parses the JSON answer.
 *
 * @throws ConnectionError when a success has an empty, cut or otherwise unparseable body.
 */
export async function requestJson(http: HttpClient, request: HttpRequest): Promise<JsonResponse> {
  const response = await http(request);
  const json = parseJson(response.text);
  if (json === undefined && isSuccess(response.status)) throw unparseable(response, request);
  return { ...response, json };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the parser's own message quotes the body, so it goes no further
  }
}

function unparseable({ status, text }: HttpResponse, request: HttpRequest): ConnectionError {
  const what = text === "" ? "an empty body" : `${text.length} characters that are not whole JSON`;
  const { maybeBilled, note } = billingOf(request);
  const message = `The service answered ${status} with ${what}${note}. Check the base URL if this repeats.`;
  return new ConnectionError(message, { isRetryable: true, maybeBilled });
}
