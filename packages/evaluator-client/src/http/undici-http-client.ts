// First, because it rejects an old Node.
import { replacementInUse } from "./program-dispatcher.ts";
import type { Dispatcher } from "undici";
import { ConfigurationError } from "../errors.ts";
import {
  type AnyDispatcher,
  closedError,
  fetchHttpClient,
  type HttpClient,
  type HttpClientOptions,
  type HttpEndpoint,
} from "./http-client.ts";
import { isInRange, proxiesInUse, readHttp2, unusedProxyHint } from "./network-environment.ts";
import { dispatcherOf, leave } from "./own-connections.ts";
import { passOverContinueFrom } from "./pass-over-continue.ts";
import { UndiciExchange } from "./undici-exchange.ts";

// The attempt's own limit covers headers and body, so undici's are off.
const noTimeouts = { headersTimeout: 0, bodyTimeout: 0 };

/**
 * Makes the HTTP client on Node. It sends over the caller's `fetch` or dispatcher, else over the program's
 * replacement of `fetch` or of undici's, else through the proxies of the environment, else over a `Pool`.
 */
export function createHttpClient({ fetch: given, ...options }: HttpClientOptions): HttpClient {
  const client = given === undefined ? new UndiciHttpClient(options) : fetchHttpClient(given);
  return {
    prepare(endpoint) {
      passOverContinueFrom(endpoint.url);
      return client.prepare(endpoint);
    },
    close: () => client.close(),
  };
}

class UndiciHttpClient implements HttpClient {
  readonly #given: AnyDispatcher | null;
  readonly #env: HttpClientOptions["env"];
  readonly #proxies: ReturnType<typeof proxiesInUse>;
  readonly #hasHttp2: boolean;
  readonly #overFetch = fetchHttpClient((url, init) => fetch(url, init));
  #isClosed = false;

  constructor({ dispatcher, env }: HttpClientOptions) {
    if (dispatcher !== undefined && typeof dispatcher?.dispatch !== "function") {
      const message = `The option "dispatcher" is no dispatcher of undici, such as new Agent() or new ProxyAgent("http://127.0.0.1:3128").`;
      throw new ConfigurationError(message, { option: "dispatcher" });
    }
    this.#given = dispatcher ?? null;
    this.#env = env;
    this.#proxies = this.#given === null ? proxiesInUse(env) : null;
    this.#hasHttp2 = readHttp2(env);
  }

  prepare(endpoint: HttpEndpoint): ReturnType<HttpClient["prepare"]> {
    const given = this.#given;
    const { origin, hostname, protocol } = new URL(endpoint.url);
    const proxies = isInRange(hostname, this.#proxies?.noProxy ?? "") ? null : this.#proxies;
    const hasHttp2 = protocol === "https:" && proxies === null && this.#hasHttp2;
    const way = { key: JSON.stringify(proxies ?? [origin, hasHttp2]), origin, proxies, hasHttp2 };
    const target = targetOf(endpoint);
    const own = {
      http1: { ...target, headers: Object.entries(endpoint.headers).flat() },
      http2Headers: hasHttp2 ? toHttp2Headers(endpoint) : {},
    };
    const hint = given === null ? unusedProxyHint(endpoint.url, this.#env) : "";
    const context = { endpoint, hint };
    const sendOverFetch = this.#overFetch.prepare(endpoint);
    return (body, abortable) => {
      if (this.#isClosed) return Promise.reject(closedError());
      const other = given ?? replacementInUse(this.#proxies !== null);
      if (other === "fetch") return sendOverFetch(body, abortable);
      const exchange = new UndiciExchange(context, abortable);
      if (exchange.isOver) return exchange.response;
      if (other === null) dispatcherOf(way, this).dispatch({ ...own, body, exchange });
      else dispatchOver(other, { ...target, headers: { ...endpoint.headers }, body }, exchange);
      return exchange.response;
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await leave(this);
  }
}

/** Sends over a dispatcher of the program. */
function dispatchOver(
  dispatcher: AnyDispatcher,
  options: Dispatcher.DispatchOptions,
  exchange: UndiciExchange,
): void {
  // In undici 8.1 to 8.10, a MockAgent asked for HTTP/1.1 goes to the network.
  const version = "isMockActive" in dispatcher ? {} : { allowH2: false };
  try {
    (dispatcher as Dispatcher).dispatch({ ...options, ...version }, exchange);
  } catch (error) {
    exchange.onResponseError(null, error as Error); // some versions throw
  }
}

function targetOf({ url, method }: HttpEndpoint) {
  const { origin, pathname, search } = new URL(url);
  return { origin, path: pathname + search, method, ...noTimeouts };
}

/** Headers of one connection, which HTTP/2 does not have (RFC 9113, 8.2.2). */
const connectionHeaders = new Set(["connection", "host", "keep-alive", "transfer-encoding"]);

/** Returns the headers of requests to an endpoint over HTTP/2. */
function toHttp2Headers({ url, method, headers }: HttpEndpoint) {
  const { host, pathname, search } = new URL(url);
  const own = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    ":method": method,
    ":scheme": "https",
    ":authority": host,
    ":path": pathname + search,
    ...Object.fromEntries(own.filter(([name]) => !connectionHeaders.has(name))),
  };
}
