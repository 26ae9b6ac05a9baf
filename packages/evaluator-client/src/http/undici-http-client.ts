import { Agent, type Dispatcher, errors, request } from "undici";
import { EvaluatorError } from "../errors.ts";
import { toConnectionError } from "./connection-failure.ts";
import { decodeBody } from "./decode-body.ts";
import type { HttpClient, HttpRequest, HttpResponse } from "./http-client.ts";
import { readResponse } from "./read-response.ts";

let agent: Agent | undefined;

/** The HTTP client on Node: undici's own `Agent`, one for the process, idle sockets kept open. */
export const defaultHttpClient: HttpClient = async (httpRequest) => {
  // The attempt's own limit covers headers and body, so undici's are off.
  agent ??= new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  try {
    return await toHttpResponse(await sendRequest(agent, httpRequest), httpRequest);
  } catch (error) {
    httpRequest.signal.throwIfAborted();
    if (error instanceof EvaluatorError) throw error;
    // A parser's error holds the bytes it met, and they may repeat the request.
    const keepCause = !(error instanceof errors.HTTPParserError);
    throw toConnectionError(error, { request: httpRequest, keepCause });
  }
};

function sendRequest(dispatcher: Agent, { method, url, headers, body, signal }: HttpRequest) {
  return request(url, { dispatcher, method, headers, body: body ?? null, signal });
}

function toHttpResponse(
  response: Dispatcher.ResponseData,
  request: HttpRequest,
): Promise<HttpResponse> {
  const header = (name: string) => firstValue(response.headers[name]);
  return readResponse({
    status: response.statusCode,
    header,
    chunks: response.body,
    decode: (bytes) => decodeBody(bytes, { contentEncoding: header("content-encoding"), request }),
  });
}

function firstValue(value: string | string[] | undefined): string | null {
  return (Array.isArray(value) ? value[0] : value) ?? null;
}
