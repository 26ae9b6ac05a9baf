import { isProxy } from "node:util/types";
import { dispatchersBefore, globalDispatcherKeys } from "./before-undici.ts";
import { getGlobalDispatcher } from "undici";
import type { AnyDispatcher } from "./http-client.ts";

const { newer: newerKey, older: olderKey } = globalDispatcherKeys;

// Its own dispatcher, and the one that it makes of it for older versions.
const ownDispatchers: readonly unknown[] =
  dispatchersBefore.newer === undefined
    ? [getGlobalDispatcher(), Reflect.get(globalThis, olderKey)]
    : [];
// What undici 6 or 7 was told to use before stays in use.
if (dispatchersBefore.newer === undefined && dispatchersBefore.older !== undefined) {
  Reflect.set(globalThis, olderKey, dispatchersBefore.older);
}

let nativeFetch: unknown;

/** Returns whether the program has put another `fetch` in place of Node's own, as interceptors do. */
export function isFetchReplaced(): boolean {
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
export function programDispatcher(hasProxies: boolean): AnyDispatcher | null {
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

/** Whether somebody set a dispatcher: it is none that undici makes by itself. */
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
