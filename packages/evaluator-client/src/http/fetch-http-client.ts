import { ConfigurationError, EvaluatorError } from "../errors.ts";
import {
  BodyCollector,
  type Fetch,
  type HttpClient,
  type HttpClientOptions,
  isSuccess,
  closedError,
  utf8,
} from "./http-client.ts";
import { toConnectionError } from "./connection-failure.ts";

/** Makes an HTTP client over the given `fetch`, whose connections are not ours to close. */
export function fetchHttpClient(fetch: Fetch): HttpClient {
  let isClosed = false;
  return {
    prepare(endpoint) {
      const { method, url, headers } = endpoint;
      return async (body, { signal }) => {
        if (isClosed) throw closedError();
        try {
          const init = { method, headers, body, signal, redirect: "manual" } as const;
          const response = await fetch(url, init);
          const received = Object.fromEntries(response.headers);
          return { status: response.status, headers: received, text: await readText(response) };
        } catch (error) {
          signal.throwIfAborted();
          if (error instanceof EvaluatorError) throw error;
          throw toConnectionError(error, { endpoint, keepCause: false });
        }
      };
    },
    async close() {
      isClosed = true;
    },
  };
}

/** Makes the HTTP client of other runtimes than Node. @throws ConfigurationError when given a dispatcher. */
export function createHttpClient({ fetch: given, dispatcher }: HttpClientOptions): HttpClient {
  if (dispatcher === undefined) return fetchHttpClient(given ?? ((url, init) => fetch(url, init)));
  const message = `The option "dispatcher" is for Node; in other runtimes pass the option "fetch".`;
  throw new ConfigurationError(message, { option: "dispatcher" });
}

async function readText({ status, body }: Response): Promise<string> {
  const reading = collect(body);
  // A broken body must not hide an error status.
  return isSuccess(status) ? reading : reading.catch(() => "");
}

async function collect(stream: ReadableStream<Uint8Array> | null): Promise<string> {
  if (stream === null) return "";
  const body = new BodyCollector();
  const reader = stream.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      body.add(read.value);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
  return utf8.decode(body.bytes());
}
