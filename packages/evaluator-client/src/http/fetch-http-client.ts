import { EvaluatorError } from "../errors.ts";
import { BodyCollector } from "./body-collector.ts";
import { toConnectionError } from "./connection-failure.ts";
import { decodeText } from "./decode-text.ts";
import { type HttpClient, isSuccess } from "./http-client.ts";

/** The part of the global `fetch` that this package uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** An HTTP client over the given `fetch`. */
export function fetchHttpClient(fetch: Fetch): HttpClient {
  return (endpoint) => {
    const { method, url, headers } = endpoint;
    return async (body, { signal }) => {
      try {
        const init = { method, headers, body, signal, redirect: "manual" } as const;
        const response = await fetch(url, init);
        const header = (name: string) => response.headers.get(name);
        return { status: response.status, header, text: await readText(response) };
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof EvaluatorError) throw error;
        throw toConnectionError(error, { endpoint, keepCause: false });
      }
    };
  };
}

/** The HTTP client where there is no Node: the global `fetch`. */
export const defaultHttpClient: HttpClient = fetchHttpClient((url, init) => fetch(url, init));

async function readText({ status, body }: Response): Promise<string> {
  const reading = collect(body);
  // An error status says enough by itself, so a broken body does not hide it.
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
  return decodeText(body.bytes());
}
