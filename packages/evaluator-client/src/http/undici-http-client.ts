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
import { leaveConnections, sendOver } from "./own-connections.ts";
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
  const overFetch = fetchHttpClient(
    givenFetch ?? ((requestUrl, requestInit) => fetch(requestUrl, requestInit)),
  );
  const connectionUser = {};
  let isClosed = false;
  const openRoutes = new Map<string, ReturnType<typeof openRoute>>(); // as many as endpoints
  const openRoute = (address: string) => {
    passOverContinueFrom(address);
    const endpointUrl = new URL(address);
    const connectionWay = connectionWayTo(endpointUrl, proxies, hasHttp2);
    const failureHint = givenMethod === null ? proxyHint(address, env) : "";
    const requestPath = endpointUrl.pathname + endpointUrl.search;
    const toRequest = (endpoint: HttpEndpoint) => ({
      endpoint,
      hint: failureHint,
      http1: toHttp1(endpoint, connectionWay.origin, requestPath),
      http2Headers: connectionWay.hasHttp2 ? toHttp2Headers(endpoint, endpointUrl) : {},
    });
    return { way: connectionWay, toRequest };
  };
  const routeTo = (address: string) => {
    const endpointRoute = openRoutes.get(address) ?? openRoute(address);
    openRoutes.set(address, endpointRoute);
    return endpointRoute;
  };
  const methodInUse = () => givenMethod ?? replacementInUse(proxies !== null);
  const sendExchange = (exchange: UndiciExchange, dispatcher: AnyDispatcher | null) => {
    if (exchange.isOver) return;
    if (dispatcher !== null) dispatchOver(dispatcher, exchange);
    else sendOver(routeTo(exchange.request.endpoint.url).way, connectionUser, exchange);
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
        sendExchange(new UndiciExchange(request, body, { abortable, receiver }), method);
        return receiver.response;
      };
    },
    stream(endpoint, body, abortable) {
      if (isClosed) return Promise.reject(closedClientError());
      const method = methodInUse();
      if (method === "fetch") return overFetch.stream(endpoint, body, abortable);
      const receiver = new ResponseStream();
      const request = routeTo(endpoint.url).toRequest(endpoint);
      sendExchange(new UndiciExchange(request, body, { abortable, receiver }), method);
      return receiver.response;
    },
    async close() {
      isClosed = true;
      await leaveConnections(connectionUser);
    },
  };
}

function givenDispatcher({ dispatcher }: HttpClientOptions): AnyDispatcher | null {
  if (dispatcher === undefined || typeof dispatcher?.dispatch === "function")
    return dispatcher ?? null;
  return rejectOption("dispatcher", "is no dispatcher of undici, such as new Agent()");
}

/** Returns the way to a URL: through the proxies, unless `NO_PROXY` has its host. */
function connectionWayTo(
  endpointUrl: URL,
  proxyOptions: ReturnType<typeof proxiesInUse>,
  mayHaveHttp2: boolean,
) {
  const { origin } = endpointUrl;
  const proxies = isExempt(endpointUrl, proxyOptions?.noProxy ?? "") ? null : proxyOptions;
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
  } catch (dispatchError) {
    exchange.onResponseError(null, dispatchError as Error); // some versions throw
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
  const ownHeaders = Object.entries(headers).map(
    ([headerName, headerValue]) => [headerName.toLowerCase(), headerValue] as const,
  );
  return {
    ":method": method,
    ":scheme": "https",
    ":authority": host,
    ":path": pathname + search,
    ...Object.fromEntries(ownHeaders.filter(([headerName]) => !connectionHeaders.has(headerName))),
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

function readProxy(env: HttpClientOptions["env"], variableName: string): string {
  const { value, environmentVariable } = readEither(env, variableName);
  if (value === "" || (URL.canParse(value) && /^https?:/i.test(value))) return value;
  const proxyProblem =
    "is not the URL of a proxy, such as http://127.0.0.1:3128; its value is not shown";
  return rejectVariable(environmentVariable, "dispatcher", proxyProblem);
}

function readEither(env: HttpClientOptions["env"], variableName: string) {
  const lowerCaseName = variableName.toLowerCase();
  const environmentVariable = env[lowerCaseName] === undefined ? variableName : lowerCaseName;
  return { environmentVariable, value: env[environmentVariable]?.trim() ?? "" };
}

/** Returns whether `NO_PROXY` has the host of a URL, also in a range such as `10.0.0.1-10.0.0.99`. */
function isExempt({ hostname, port, protocol }: URL, noProxy: string): boolean {
  const hostName = hostname.replace(/^\[|\.?\]?$/g, "");
  const portSuffix = `:${port || (protocol === "https:" ? 443 : 80)}`;
  return noProxy.split(/[\s,]+/).some((exemptEntry) => {
    const [firstAddress = "", lastAddress = ""] = exemptEntry.split("-");
    if (
      isIP(hostName) !== 0 &&
      isIP(firstAddress) === isIP(hostName) &&
      isIP(lastAddress) === isIP(hostName)
    ) {
      const addressFamily = isIP(hostName) === 6 ? "ipv6" : "ipv4";
      const addressRange = new BlockList();
      try {
        addressRange.addRange(firstAddress, lastAddress, addressFamily);
      } catch {
        return false; // its last address comes before its first
      }
      return addressRange.check(hostName, addressFamily);
    }
    const entryName =
      isIP(exemptEntry) === 0 && exemptEntry.endsWith(portSuffix)
        ? exemptEntry.slice(0, -portSuffix.length)
        : exemptEntry;
    const name = entryName.replace(/^\[|\.?\]?$/g, "").toLowerCase();
    if (/^\*(\.|$)/.test(name)) return hostName.endsWith(name.slice(1));
    return `.${hostName}`.endsWith(`.${name}`.replace("..", "."));
  });
}

/** Returns a sentence for the error of a call that a proxy of the environment takes part in, or could. */
function proxyHint(url: string, env: HttpClientOptions["env"]): string {
  const variableNames =
    new URL(url).protocol === "https:" ? ["HTTPS_PROXY", "HTTP_PROXY"] : ["HTTP_PROXY"];
  const setVariable = variableNames
    .map((variableName) => readEither(env, variableName))
    .find(({ value }) => value !== "");
  const proxyAdvice =
    env["NODE_USE_ENV_PROXY"] === "1"
      ? "in use, unless NO_PROXY has the host: check that proxy too"
      : "set but not in use: set NODE_USE_ENV_PROXY=1 to go through that proxy";
  return setVariable === undefined ? "" : ` ${setVariable.environmentVariable} is ${proxyAdvice}.`;
}

/** Returns whether HTTP/2 may be used: unless `EVALUATOR_HTTP2` is 0. */
function readHttp2(env: HttpClientOptions["env"]): boolean {
  const value = env["EVALUATOR_HTTP2"]?.trim() || "1";
  if (value === "0" || value === "1") return value === "1";
  return rejectVariable("EVALUATOR_HTTP2", "dispatcher", "is neither 0 (HTTP/1.1 only) nor 1");
}
