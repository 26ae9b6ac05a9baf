// First, because it rejects an old Node.
import { dispatcherKeys, findReplacement } from "./program-dispatcher.ts";
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

type SendRequest = ReturnType<HttpClient["prepare"]>;

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

  prepare(endpoint: HttpEndpoint): SendRequest {
    const given = this.#given;
    const hasProxies = this.#proxies !== null;
    const hint = given === null ? unusedProxyHint(endpoint.url, this.#env) : "";
    const target = targetOf(endpoint);
    const sendOverFetch = this.#overFetch.prepare(endpoint);
    const sendOverPool = this.#preparePool(endpoint, hint);
    return (body, abortable) => {
      if (this.#isClosed) return Promise.reject(closedError());
      const other = given ?? replacementInUse(hasProxies);
      if (other === null) return sendOverPool(body, abortable);
      if (other === "fetch") return sendOverFetch(body, abortable);
      const exchange = new UndiciExchange({ endpoint, hint }, abortable);
      // In undici 8.1 to 8.10, a MockAgent asked for HTTP/1.1 goes to the network.
      const version = "isMockActive" in other ? {} : { allowH2: false };
      const options = { ...target, ...version, headers: { ...endpoint.headers }, body };
      try {
        if (!exchange.isOver) (other as Dispatcher).dispatch(options, exchange);
      } catch (error) {
        exchange.onResponseError(null, error as Error); // some versions throw
      }
      return exchange.response;
    };
  }

  /** Sends over a `Pool` of the origin, or over the proxies; all clients share them. */
  #preparePool(endpoint: HttpEndpoint, hint: string): SendRequest {
    const { origin, hostname, protocol } = new URL(endpoint.url);
    const proxies = isInRange(hostname, this.#proxies?.noProxy ?? "") ? null : this.#proxies;
    const hasHttp2 = protocol === "https:" && proxies === null && this.#hasHttp2;
    const way = { key: JSON.stringify(proxies ?? [origin, hasHttp2]), origin, proxies, hasHttp2 };
    const target = {
      http1: { ...targetOf(endpoint), headers: Object.entries(endpoint.headers).flat() },
      http2Headers: hasHttp2 ? toHttp2Headers(endpoint) : {},
    };
    const context = { endpoint, hint };
    return (body, abortable) => {
      const exchange = new UndiciExchange(context, abortable);
      if (exchange.isOver) return exchange.response;
      dispatcherOf(way, this).dispatch({ ...target, body, exchange });
      return exchange.response;
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await leave(this);
  }
}

/** The last found replacement, and the globals that decided it. */
let seen: { fetch: unknown; newer: unknown; older: unknown; found: Replacement } | null = null;
type Replacement = ReturnType<typeof findReplacement>;

/** Returns the program's replacement of `fetch` or of undici's dispatcher; Node sets one for proxies. */
function replacementInUse(hasProxies: boolean): Replacement {
  const { fetch } = globalThis;
  const newer: unknown = Reflect.get(globalThis, dispatcherKeys.newer);
  const older: unknown = Reflect.get(globalThis, dispatcherKeys.older);
  if (seen === null || seen.fetch !== fetch || seen.newer !== newer || seen.older !== older) {
    seen = { fetch, newer, older, found: findReplacement(fetch, { newer, older }) };
  }
  const { found } = seen;
  return hasProxies && found?.constructor.name === "EnvHttpProxyAgent" ? null : found;
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
