import { isProxy } from "node:util/types";
import type { AnyDispatcher } from "./http-client.ts";

// This file is evaluated before undici, which crashes on an older Node with a useless error.
const [major = 0, minor = 0] = (globalThis.process?.versions.node ?? "").split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  throw new Error(
    `evaluator-client needs Node 22.19 or later, and this is Node ${process.versions.node}.`,
  );
}

// Where undici 8 keeps the dispatcher of the whole program, and where undici 6 and 7 do.
const newerKey = Symbol.for("undici.globalDispatcher.2");
const olderKey = Symbol.for("undici.globalDispatcher.1");
const before = readDispatchers();
let ownDispatchers: readonly unknown[] = [];

function readDispatchers(): { newer: unknown; older: unknown } {
  return { newer: Reflect.get(globalThis, newerKey), older: Reflect.get(globalThis, olderKey) };
}

/** Notes the dispatchers that undici has just set, and restores the program's one of undici 6 or 7. */
export function afterUndiciLoaded(): void {
  if (before.newer !== undefined) return;
  ownDispatchers = Object.values(readDispatchers());
  if (before.older !== undefined) Reflect.set(globalThis, olderKey, before.older);
}

let nativeFetch: unknown;
let seen: { newer: unknown; older: unknown; chosen: AnyDispatcher | null } | null = null;

/**
 * Returns "fetch" if the program has replaced Node's own, as interceptors do, else the dispatcher that
 * it has set with any version of undici, or null.
 *
 * @param hasProxies - Whether to ignore a dispatcher for the proxies of the environment, which Node sets.
 */
export function replacementInUse(hasProxies: boolean): AnyDispatcher | "fetch" | null {
  const { fetch } = globalThis;
  if (fetch !== nativeFetch && isReplaced(fetch)) return "fetch";
  const newer: unknown = Reflect.get(globalThis, newerKey);
  const older: unknown = Reflect.get(globalThis, olderKey);
  if (seen === null || seen.newer !== newer || seen.older !== older) {
    seen = { newer, older, chosen: chooseDispatcher(newer, older) };
  }
  const { chosen } = seen;
  return hasProxies && nameOf(chosen) === "EnvHttpProxyAgent" ? null : chosen;
}

function isReplaced(fetch: unknown): boolean {
  if (typeof fetch !== "function") return false;
  // Node's own is written in JavaScript; a Proxy or a bound function shows no source.
  const isNative = Function.prototype.toString.call(fetch).includes("internal/deps/undici/undici");
  if (isNative) nativeFetch = fetch;
  return !isNative;
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
