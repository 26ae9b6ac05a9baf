// First, because it rejects an old Node.
import { replacementInUse } from "./program-dispatcher.ts";
import { BlockList, isIP } from "node:net";
import type { Dispatcher } from "undici";
import { rejectOption, rejectVariable } from "../options.ts";
import {
  type AnyDispatcher,
  closedClientError,
  fetchHttpClient,
  type HttpClient,
  type HttpClientOptions,
  type HttpEndpoint,
} from "./http-client.ts";
import { leave, sendOver } from "./own-connections.ts";
import { passOverContinueFrom } from "./pass-over-continue.ts";
import { ResponseStream } from "./response-stream.ts";
import { UndiciExchange } from "./undici-exchange.ts";
import { WholeResponse } from "./whole-response.ts";

/**
 * Makes the HTTP client on Node. It sends over the caller's `fetch` or dispatcher, else over the program's
 * replacement of `fetch` or of undici's, else through the proxies of the environment, else over its own
 * connections.
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { fetch: givenFetch, env } = options;
  const givenMethod = givenFetch === undefined ? givenDispatcher(options) : "fetch";
  const proxies = givenMethod === null ? proxiesInUse(env) : null;
  const hasHttp2 = givenFetch === undefined && readHttp2(env);
  const overFetch = fetchHttpClient(givenFetch ?? ((url, init) => fetch(url, init)));
  const user = {};
  let isClosed = false;
  const routes = new Map<string, ReturnType<typeof openRoute>>(); // as many as endpoints
  const openRoute = (address: string) => {
    passOverContinueFrom(address);
    const url = new URL(address);
    const way = wayTo(url, proxies, hasHttp2);
    const hint = givenMethod === null ? proxyHint(address, env) : "";
    const path = url.pathname + url.search;
    const toRequest = (endpoint: HttpEndpoint) => ({
      endpoint,
      hint,
      http1: toHttp1(endpoint, way.origin, path),
      http2Headers: way.hasHttp2 ? toHttp2Headers(endpoint, url) : {},
    });
    return { way, toRequest };
  };
  const routeTo = (address: string) => {
    const route = routes.get(address) ?? openRoute(address);
    routes.set(address, route);
    return route;
  };
  const methodInUse = () => givenMethod ?? replacementInUse(proxies !== null);
  const send = (exchange: UndiciExchange, dispatcher: AnyDispatcher | null) => {
    if (exchange.isOver) return;
    if (dispatcher !== null) dispatchOver(dispatcher, exchange);
    else sendOver(routeTo(exchange.request.endpoint.url).way, user, exchange);
  };
  return {
    prepare(endpoint) {
      const { toRequest } = routeTo(endpoint.url);
      const preparedRequest = toRequest(endpoint);
      const sendOverFetch = overFetch.prepare(endpoint);
      return (body, abortable, headers) => {
        if (isClosed) return Promise.reject(closedClientError());
        const method = methodInUse();
        if (method === "fetch") return sendOverFetch(body, abortable, headers);
        const request =
          headers === undefined ? preparedRequest : toRequest({ ...endpoint, headers });
        const receiver = new WholeResponse(request);
        send(new UndiciExchange(request, body, { abortable, receiver }), method);
        return receiver.response;
      };
    },
    stream(endpoint, body, abortable) {
      if (isClosed) return Promise.reject(closedClientError());
      const method = methodInUse();
      if (method === "fetch") return overFetch.stream(endpoint, body, abortable);
      const receiver = new ResponseStream();
      const request = routeTo(endpoint.url).toRequest(endpoint);
      send(new UndiciExchange(request, body, { abortable, receiver }), method);
      return receiver.response;
    },
    async close() {
      isClosed = true;
      await leave(user);
    },
  };
}

function givenDispatcher({ dispatcher }: HttpClientOptions): AnyDispatcher | null {
  if (dispatcher === undefined || typeof dispatcher?.dispatch === "function")
    return dispatcher ?? null;
  return rejectOption("dispatcher", "is no dispatcher of undici, such as new Agent()");
}

/** Returns the way to a URL: through the proxies, unless `NO_PROXY` has its host. */
function wayTo(url: URL, all: ReturnType<typeof proxiesInUse>, mayHaveHttp2: boolean) {
  const { origin } = url;
  const proxies = isExempt(url, all?.noProxy ?? "") ? null : all;
  const hasHttp2 = origin.startsWith("https:") && proxies === null && mayHaveHttp2;
  return { key: JSON.stringify(proxies ?? [origin, hasHttp2]), origin, proxies, hasHttp2 };
}

/** Sends over a dispatcher of the program. */
function dispatchOver(dispatcher: AnyDispatcher, exchange: UndiciExchange): void {
  const { endpoint, http1 } = exchange.request;
  // In undici 8.1 to 8.10, a MockAgent asked for HTTP/1.1 goes to the network.
  const version = "isMockActive" in dispatcher ? {} : { allowH2: false };
  const options = { ...http1, headers: { ...endpoint.headers }, body: exchange.body, ...version };
  try {
    (dispatcher as Dispatcher).dispatch(options, exchange);
  } catch (error) {
    exchange.onResponseError(null, error as Error); // some versions throw
  }
}

/** Returns the options of requests to an endpoint over HTTP/1.1. */
function toHttp1({ method, headers }: HttpEndpoint, origin: string, path: string) {
  // The attempt's own limit covers headers and body, so undici's are off.
  const noTimeouts = { headersTimeout: 0, bodyTimeout: 0 };
  return { origin, path, method, headers: Object.entries(headers).flat(), ...noTimeouts };
}

/** Headers of one connection, which HTTP/2 does not have (RFC 9113, 8.2.2). */
const connectionHeaders = new Set(["connection", "host", "keep-alive", "transfer-encoding"]);

/** Returns the headers of requests to an endpoint over HTTP/2. */
function toHttp2Headers({ method, headers }: HttpEndpoint, { host, pathname, search }: URL) {
  const own = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    ":method": method,
    ":scheme": "https",
    ":authority": host,
    ":path": pathname + search,
    ...Object.fromEntries(own.filter(([name]) => !connectionHeaders.has(name))),
  };
}

/** Returns the proxies of the environment, as Node reads them, if `NODE_USE_ENV_PROXY` is 1; else null. */
function proxiesInUse(env: HttpClientOptions["env"]) {
  if (env["NODE_USE_ENV_PROXY"] !== "1") return null;
  const httpProxy = readProxy(env, "HTTP_PROXY");
  const httpsProxy = readProxy(env, "HTTPS_PROXY") || httpProxy;
  if (httpProxy === "" && httpsProxy === "") return null;
  return { httpProxy, httpsProxy, noProxy: readEither(env, "NO_PROXY").value };
}

function readProxy(env: HttpClientOptions["env"], name: string): string {
  const { value, environmentVariable } = readEither(env, name);
  if (value === "" || (URL.canParse(value) && /^https?:/i.test(value))) return value;
  const what = "is not the URL of a proxy, such as http://127.0.0.1:3128; its value is not shown";
  return rejectVariable(environmentVariable, "dispatcher", what);
}

function readEither(env: HttpClientOptions["env"], name: string) {
  const lower = name.toLowerCase();
  const environmentVariable = env[lower] === undefined ? name : lower;
  return { environmentVariable, value: env[environmentVariable]?.trim() ?? "" };
}

/** Returns whether `NO_PROXY` has the host of a URL, also in a range such as `10.0.0.1-10.0.0.99`. */
function isExempt({ hostname, port, protocol }: URL, noProxy: string): boolean {
  const host = hostname.replace(/^\[|\.?\]?$/g, "");
  const end = `:${port || (protocol === "https:" ? 443 : 80)}`;
  return noProxy.split(/[\s,]+/).some((entry) => {
    const [first = "", last = ""] = entry.split("-");
    if (isIP(host) !== 0 && isIP(first) === isIP(host) && isIP(last) === isIP(host)) {
      const family = isIP(host) === 6 ? "ipv6" : "ipv4";
      const range = new BlockList();
      try {
        range.addRange(first, last, family);
      } catch {
        return false; // its last address comes before its first
      }
      return range.check(host, family);
    }
    const entryName =
      isIP(entry) === 0 && entry.endsWith(end) ? entry.slice(0, -end.length) : entry;
    const name = entryName.replace(/^\[|\.?\]?$/g, "").toLowerCase();
    if (/^\*(\.|$)/.test(name)) return host.endsWith(name.slice(1));
    return `.${host}`.endsWith(`.${name}`.replace("..", "."));
  });
}

/** Returns a sentence for the error of a call that a proxy of the environment takes part in, or could. */
function proxyHint(url: string, env: HttpClientOptions["env"]): string {
  const names = new URL(url).protocol === "https:" ? ["HTTPS_PROXY", "HTTP_PROXY"] : ["HTTP_PROXY"];
  const set = names.map((name) => readEither(env, name)).find(({ value }) => value !== "");
  const advice =
    env["NODE_USE_ENV_PROXY"] === "1"
      ? "in use, unless NO_PROXY has the host: check that proxy too"
      : "set but not in use: set NODE_USE_ENV_PROXY=1 to go through that proxy";
  return set === undefined ? "" : ` ${set.environmentVariable} is ${advice}.`;
}

/** Returns whether HTTP/2 may be used: unless `EVALUATOR_HTTP2` is 0. */
function readHttp2(env: HttpClientOptions["env"]): boolean {
  const value = env["EVALUATOR_HTTP2"]?.trim() || "1";
  if (value === "0" || value === "1") return value === "1";
  return rejectVariable("EVALUATOR_HTTP2", "dispatcher", "is neither 0 (HTTP/1.1 only) nor 1");
}
