// First, because it looks at what there is before undici is loaded, and rejects too old a Node.
import { dispatchersBefore, globalDispatcherKeys } from "./before-undici.ts";
import { Socket } from "node:net";
import { isProxy } from "node:util/types";
import { type Dispatcher, EnvHttpProxyAgent, getGlobalDispatcher, Pool } from "undici";
import { ConfigurationError } from "../errors.ts";
import { fetchHttpClient } from "./fetch-http-client.ts";
import {
  type AnyDispatcher,
  type HttpClient,
  type HttpClientOptions,
  closedError,
} from "./http-client.ts";
import { passOverContinueFrom, AnyUndiciExchange, UndiciExchange } from "./undici-exchange.ts";
import { isInRange, proxiesInUse, unusedProxyHint } from "./proxies.ts";

// Over HTTP/2, undici 8.12 spins in native code for ever once two requests are aborted together.
const http1 = { allowH2: false };
// The attempt's own limit covers headers and body, so undici's are off.
const noTimeouts = { headersTimeout: 0, bodyTimeout: 0 };

const { newer: newerKey, older: olderKey } = globalDispatcherKeys;

// Its own dispatcher, and the one that it makes of it for older versions.
const ownDispatchers: readonly unknown[] =
  dispatchersBefore.newer === undefined
    ? [getGlobalDispatcher(), Reflect.get(globalThis, olderKey)]
    : [];
// A dispatcher that was set with undici 6 or 7 before stays in use.
if (dispatchersBefore.newer === undefined && dispatchersBefore.older !== undefined) {
  Reflect.set(globalThis, olderKey, dispatchersBefore.older);
}

/**
 * Makes the HTTP client on Node. It sends over the caller's `fetch` or dispatcher, else over the
 * program's replacement of `fetch` or of undici's global dispatcher, else through the proxies of the
 * environment, else over an undici `Pool`.
 *
 * @throws ConfigurationError when the dispatcher is none, or a proxy in use is no URL.
 */
export function createHttpClient({ fetch: given, ...options }: HttpClientOptions): HttpClient {
  const client = given === undefined ? undiciHttpClient(options) : fetchHttpClient(given);
  return {
    prepare(endpoint) {
      passOverContinueFrom(endpoint.url);
      return client.prepare(endpoint);
    },
    close: () => client.close(),
  };
}

function undiciHttpClient({ dispatcher, env }: HttpClientOptions): HttpClient {
  const given = dispatcher === undefined ? null : checkDispatcher(dispatcher);
  const proxies = given === null ? proxiesInUse(env) : null;
  const overFetch = fetchHttpClient((url, init) => fetch(url, init));
  const user = {};
  let isClosed = false;
  return {
    prepare(endpoint) {
      const { origin, hostname, pathname, search } = new URL(endpoint.url);
      const { method, headers } = endpoint;
      const target = { origin, path: pathname + search, method, ...noTimeouts };
      const flatHeaders = Object.entries(headers).flat();
      const sendOverFetch = overFetch.prepare(endpoint);
      const isProxied = proxies !== null && !isInRange(hostname, proxies.noProxy);
      const key = isProxied ? JSON.stringify(proxies) : origin;
      const create = () =>
        isProxied
          ? new EnvHttpProxyAgent({ ...proxies, ...http1, ...noTimeouts })
          : new Pool(origin, { ...http1, ...noTimeouts });
      const context = { endpoint, hint: given === null ? unusedProxyHint(endpoint.url, env) : "" };
      return (body, abortable) => {
        if (isClosed) return Promise.reject(closedError());
        if (given === null && isFetchReplaced()) return sendOverFetch(body, abortable);
        const other = given ?? programDispatcher(proxies !== null);
        if (other !== null) {
          const exchange = new AnyUndiciExchange(context, abortable);
          // In undici 8.1 to 8.10, a MockAgent asked for HTTP/1.1 goes to the network.
          const version = "isMockActive" in other ? {} : http1;
          dispatch(other, { ...target, ...version, headers: { ...headers }, body }, exchange);
          return exchange.response;
        }
        const exchange = new UndiciExchange(context, abortable);
        if (exchange.isOver) return exchange.response;
        const dispatcher = sharedDispatcher(key, user, create);
        dispatcher.dispatch({ ...target, headers: flatHeaders, body }, exchange);
        return exchange.response;
      };
    },
    async close() {
      isClosed = true;
      await leaveAll(user);
    },
  };
}

function checkDispatcher(dispatcher: AnyDispatcher): AnyDispatcher {
  if (typeof (dispatcher as Partial<AnyDispatcher> | null)?.dispatch === "function") {
    return dispatcher;
  }
  const message = `The option "dispatcher" is no dispatcher of undici, such as new Agent() or new ProxyAgent("http://127.0.0.1:3128").`;
  throw new ConfigurationError(message, { option: "dispatcher" });
}

/** Sends over a dispatcher of the user; some versions throw. */
function dispatch(
  dispatcher: AnyDispatcher,
  options: Dispatcher.DispatchOptions,
  exchange: AnyUndiciExchange,
): void {
  if (exchange.isOver) return;
  try {
    (dispatcher as Dispatcher).dispatch(options, exchange);
  } catch (error) {
    exchange.onResponseError(null, error as Error);
  }
}

/** Dispatchers that all HTTP clients share, by origin or proxies, with the users of each. */
const shared = new Map<string, { dispatcher: Dispatcher; users: Set<object> }>();
/** The function that every socket connects with; interceptors replace it. */
let connectInUse: unknown;

function sharedDispatcher(key: string, user: object, create: () => Dispatcher): Dispatcher {
  const connect: unknown = Reflect.get(Socket.prototype, "connect");
  if (connect !== connectInUse) {
    // Existing connections would bypass an interceptor of sockets that was added or removed.
    connectInUse = connect;
    for (const { dispatcher } of shared.values()) dispatcher.close().catch(() => undefined);
    shared.clear();
  }
  let entry = shared.get(key);
  if (entry === undefined) {
    entry = { dispatcher: create(), users: new Set() };
    shared.set(key, entry);
  }
  entry.users.add(user);
  return entry.dispatcher;
}

/** Closes the dispatchers that only this user uses, once their requests are over. */
async function leaveAll(user: object): Promise<void> {
  const closing: Promise<void>[] = [];
  for (const [key, { dispatcher, users }] of shared) {
    if (!users.delete(user) || users.size > 0) continue;
    shared.delete(key);
    closing.push(dispatcher.close());
  }
  await Promise.all(closing);
}

let nativeFetch: unknown;

/** Returns whether the program has put another `fetch` in place of Node's own, as interceptors do. */
function isFetchReplaced(): boolean {
  const { fetch } = globalThis;
  if (fetch === nativeFetch || typeof fetch !== "function") return false;
  // Node's own is written in JavaScript; a Proxy or a bound function shows no source.
  const isNative = Function.prototype.toString.call(fetch).includes("internal/deps/undici/undici");
  if (isNative) nativeFetch = fetch;
  return !isNative;
}

let seen: { newer: unknown; older: unknown; chosen: AnyDispatcher | null } | null = null;

/**
 * Returns the dispatcher that the program has set for itself with any version of undici, or null.
 *
 * @param hasProxies - Whether one for the proxies of the environment does not count: Node sets it.
 */
function programDispatcher(hasProxies: boolean): AnyDispatcher | null {
  const newer: unknown = Reflect.get(globalThis, newerKey);
  const older: unknown = Reflect.get(globalThis, olderKey);
  if (seen === null || seen.newer !== newer || seen.older !== older) {
    seen = { newer, older, chosen: chooseDispatcher(newer, older) };
  }
  const { chosen } = seen;
  return hasProxies && nameOf(chosen) === "EnvHttpProxyAgent" ? null : chosen;
}

function chooseDispatcher(newer: unknown, older: unknown): AnyDispatcher | null {
  // undici 8 wraps its dispatcher for older versions; older versions set no newer one.
  if (isSet(older) && nameOf(older) !== "Dispatcher1Wrapper") return older;
  return isSet(newer) ? newer : null;
}

/** Whether a dispatcher was set by the program, not by undici. */
function isSet(dispatcher: unknown): dispatcher is AnyDispatcher {
  if (typeof dispatcher !== "object" || dispatcher === null) return false;
  return !ownDispatchers.includes(dispatcher) && !isPlainAgent(dispatcher);
}

/** Whether it is an `Agent` without options; composed with an interceptor, it is a Proxy. */
function isPlainAgent(dispatcher: object): boolean {
  if (isProxy(dispatcher) || nameOf(dispatcher) !== "Agent") return false;
  if (Object.hasOwn(dispatcher, "dispatch")) return false;
  const { options, factory } = symbolFields(dispatcher);
  const hasOptions = Object.values(options ?? {}).some(
    (value) => value !== undefined && value !== Number.POSITIVE_INFINITY,
  );
  return !hasOptions && typeof factory === "function" && factory.name === "defaultFactory";
}

function symbolFields(dispatcher: object): { options?: object; factory?: unknown } {
  const symbols = Object.getOwnPropertySymbols(dispatcher);
  return Object.fromEntries(
    symbols.map((symbol) => [symbol.description, Reflect.get(dispatcher, symbol)]),
  );
}

function nameOf(dispatcher: unknown): string {
  return typeof dispatcher === "object" && dispatcher !== null ? dispatcher.constructor.name : "";
}
