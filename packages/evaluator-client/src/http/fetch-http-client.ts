import { EvaluatorError } from "../errors.ts";
import { toConnectionError } from "./connection-failure.ts";
import type { HttpClient, HttpRequest, HttpResponse } from "./http-client.ts";
import { readResponse } from "./read-response.ts";

/** The part of the global `fetch` that this package uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** An HTTP client over the given `fetch`. */
export function fetchHttpClient(fetch: Fetch): HttpClient {
  return async (httpRequest) => {
    try {
      return await toHttpResponse(await sendRequest(fetch, httpRequest));
    } catch (error) {
      httpRequest.signal.throwIfAborted();
      if (error instanceof EvaluatorError) throw error;
      throw toConnectionError(error, { request: httpRequest, keepCause: false });
    }
  };
}

/** The HTTP client where there is no Node: the global `fetch`. */
export const defaultHttpClient: HttpClient = fetchHttpClient((url, init) => fetch(url, init));

function sendRequest(fetch: Fetch, { method, url, headers, body, signal }: HttpRequest) {
  return fetch(url, { method, headers, body: body ?? null, signal, redirect: "manual" });
}

function toHttpResponse(response: Response): Promise<HttpResponse> {
  return readResponse({
    status: response.status,
    header: (name) => response.headers.get(name),
    chunks: chunksOf(response.body),
    decode: (bytes) => bytes, // fetch has undone the content encoding
  });
}

async function* chunksOf(body: ReadableStream<Uint8Array> | null): AsyncIterable<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
