import { type ConfigurationError, EvaluatorError } from "../errors.ts";
import { closedError, rejectOption } from "../options.ts";
import { toConnectionError } from "./connection-failure.ts";
import {
  BodyCollector,
  type HttpResponse,
  isSuccess,
  type StreamedResponse,
} from "./http-response.ts";

/** Something that may be aborted before it is done. */
export interface Abortable {
  /** Aborts it; its reason is thrown unchanged. */
  readonly signal: AbortSignal;
  /** Calls back with the reason when it aborts, at once if it has. If present, no signal has to be made. */
  onAbort?(listener: (reason: unknown) => void): void;
  /** Whether a request may have left, as far as the HTTP client knows; undefined if it does not. */
  wasSent?: boolean;
}

/** Where requests go, and what every one of them carries. */
export interface HttpEndpoint {
  readonly method: "GET" | "POST";
  readonly url: string;
  /** Header name to value, sent as written and in this order. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends requests, over connections that it may own. */
export interface HttpClient {
  /**
   * Prepares requests to one endpoint: their common part is computed once. Each is sent once, follows no
   * redirect, and rejects with the reason of an abort. Headers of a call replace the endpoint's.
   */
  prepare(
    endpoint: HttpEndpoint,
  ): (
    body: string | null,
    abortable: Abortable,
    headers?: HttpEndpoint["headers"],
  ) => Promise<HttpResponse>;
  /** Sends a request once, without redirects. @throws TypeError without a response, or the reason of an abort */
  stream(
    endpoint: HttpEndpoint,
    body: string | null,
    abortable: Abortable,
  ): Promise<StreamedResponse>;
  /** Closes the connections that it owns, once their requests are over. */
  close(): Promise<void>;
}

/** A `Dispatcher` of undici 7 or 8: an `Agent`, a `Pool`, a `ProxyAgent`, a `MockAgent`. */
export interface AnyDispatcher {
  dispatch(options: never, handler: never): boolean;
}

/** The part of the global `fetch` that this package uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Options of a runtime's HTTP client. */
export interface HttpClientOptions {
  readonly fetch?: Fetch | undefined;
  /** Sends through this dispatcher of the caller's, who also closes it. */
  readonly dispatcher?: AnyDispatcher | undefined;
  /** The environment variables that name proxies. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Returns the error for a request after the client was closed. */
export function closedClientError(): ConfigurationError {
  return closedError("transport or catalog", "transport");
}

/** Makes an HTTP client over the given `fetch`, whose connections are not ours to close. */
export function fetchHttpClient(fetch: Fetch): HttpClient {
  let isClosed = false;
  const stream: HttpClient["stream"] = async ({ method, url, headers }, body, { signal }) => {
    if (isClosed) throw closedClientError();
    const requestInit = { method, headers, body, signal, redirect: "manual" } as const;
    return toStreamed(await fetch(url, requestInit));
  };
  return {
    stream,
    prepare(endpoint) {
      return async (body, abortable, headers = endpoint.headers) => {
        try {
          const response = await stream({ ...endpoint, headers }, body, abortable);
          return { ...response, text: await readText(response) };
        } catch (fetchError) {
          abortable.signal.throwIfAborted();
          if (fetchError instanceof EvaluatorError) throw fetchError;
          throw toConnectionError(fetchError, { endpoint, keepCause: false });
        }
      };
    },
    async close() {
      isClosed = true;
    },
  };
}

/** Makes the HTTP client of other runtimes than Node. @throws ConfigurationError when given a dispatcher. */
export function createHttpClient({ fetch: givenFetch, dispatcher }: HttpClientOptions): HttpClient {
  if (dispatcher === undefined)
    return fetchHttpClient(givenFetch ?? ((url, init) => fetch(url, init)));
  return rejectOption("dispatcher", 'is for Node; in other runtimes pass the option "fetch"');
}

async function readText({ status, read }: StreamedResponse): Promise<string> {
  const bodyCollector = new BodyCollector();
  try {
    await read((bodyChunk) => bodyCollector.addChunk(bodyChunk));
  } catch (readError) {
    if (isSuccess(status)) throw readError;
    return ""; // a broken body must not hide an error status
  }
  return new TextDecoder().decode(bodyCollector.joinBytes());
}

function toStreamed({ status, statusText, headers, body }: Response): StreamedResponse {
  const readBody: StreamedResponse["read"] = async (chunkSink) => {
    const reader = body?.getReader();
    try {
      for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
        const waiting = chunkSink(part.value);
        if (waiting !== undefined) await waiting;
      }
    } finally {
      await reader?.cancel().catch(() => undefined);
    }
  };
  return { status, statusText, headers: Object.fromEntries(headers), read: readBody };
}
