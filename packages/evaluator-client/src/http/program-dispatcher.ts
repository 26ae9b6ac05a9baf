import { isProxy } from "node:util/types";
import type { AnyDispatcher } from "./http-client.ts";

// This file is evaluated before undici, which crashes on an older Node with a useless error.
const [nodeMajor = 0, nodeMinor = 0] = (globalThis.process?.versions.node ?? "")
  .split(".")
  .map(Number);
if (nodeMajor < 22 || (nodeMajor === 22 && nodeMinor < 19)) {
  throw new Error(
    `evaluator-client needs Node 22.19 or later, and this is Node ${process.versions.node}.`,
  );
}

/** Where undici 8 keeps the dispatcher of the whole program. */
const newerKey = Symbol.for("undici.globalDispatcher.2");
/** Where undici 6 and 7 keep it. */
const olderKey = Symbol.for("undici.globalDispatcher.1");

// The bundled undici. Its `fetch` also takes dispatchers of undici 6, whose handlers are others than ours.
const fetchUsesOlder = Number.parseInt(globalThis.process?.versions.undici ?? "", 10) < 8;

type Replacement = AnyDispatcher | "fetch" | null;

let ownDispatchers: readonly unknown[] = [];

/** Returns the dispatchers of the whole program. */
export function readDispatchers(): { newerDispatcher: unknown; olderDispatcher: unknown } {
  return {
    newerDispatcher: Reflect.get(globalThis, newerKey),
    olderDispatcher: Reflect.get(globalThis, olderKey),
  };
}

/**
 * Notes the dispatchers that undici has just set; in a bundle, their classes may have other names. Restores
 * the program's dispatcher of undici 6 or 7.
 */
export function afterUndiciLoaded({
  newerDispatcher,
  olderDispatcher,
}: ReturnType<typeof readDispatchers>): void {
  if (newerDispatcher === undefined) ownDispatchers = Object.values(readDispatchers());
  if (olderDispatcher !== undefined) Reflect.set(globalThis, olderKey, olderDispatcher);
}

/** The last found replacement, and the globals that decided it. */
let lastSearch: {
  fetch: unknown;
  newerDispatcher: unknown;
  olderDispatcher: unknown;
  foundReplacement: Replacement;
} | null = null;

/**
 * Returns the dispatcher that the program has set, of any undici, or null. It is "fetch" if `fetch` uses
 * that dispatcher, or if the program has replaced `fetch`.
 *
 * @param hasProxies - Whether Node sets a dispatcher itself, for the proxies of the environment.
 */
export function replacementInUse(hasProxies: boolean): Replacement {
  const { fetch } = globalThis;
  const { newerDispatcher, olderDispatcher } = readDispatchers();
  if (
    lastSearch === null ||
    lastSearch.fetch !== fetch ||
    lastSearch.newerDispatcher !== newerDispatcher ||
    lastSearch.olderDispatcher !== olderDispatcher
  ) {
    lastSearch = {
      fetch,
      newerDispatcher,
      olderDispatcher,
      foundReplacement: findReplacement(fetch, newerDispatcher, olderDispatcher),
    };
  }
  const { foundReplacement } = lastSearch;
  if (hasProxies && foundReplacement?.constructor.name === "EnvHttpProxyAgent") return null;
  return foundReplacement === olderDispatcher && fetchUsesOlder ? "fetch" : foundReplacement;
}

function findReplacement(fetch: unknown, newer: unknown, older: unknown): Replacement {
  // Node's own is written in JavaScript; a Proxy or a bound function shows no source.
  const fetchSource = typeof fetch === "function" ? Function.prototype.toString.call(fetch) : null;
  if (fetchSource !== null && !fetchSource.includes("internal/deps/undici/undici")) return "fetch";
  // undici 8 wraps its dispatcher for older versions; older versions set no newer one.
  if (isDispatcher(older) && !("wrapHandler" in older.constructor)) return older;
  return isDispatcher(newer) ? newer : null;
}

/** Whether a dispatcher was set by the program, not by undici. */
function isDispatcher(dispatcher: unknown): dispatcher is AnyDispatcher {
  if (typeof dispatcher !== "object" || dispatcher === null) return false;
  return !ownDispatchers.includes(dispatcher) && !isPlainAgent(dispatcher);
}

/** Whether it is an `Agent` without options; composed with an interceptor, it is a Proxy. */
function isPlainAgent(dispatcher: object): boolean {
  // Class and factory are known by their code: in a bundle they may have other names.
  if (isProxy(dispatcher) || !/factory must be a/.test(String(dispatcher.constructor)))
    return false;
  if (Object.hasOwn(dispatcher, "dispatch")) return false;
  const { options, factory } = symbolFields(dispatcher);
  const hasOptions = Object.values(options ?? {}).some(
    (optionValue) => optionValue !== undefined && optionValue !== Number.POSITIVE_INFINITY,
  );
  return !hasOptions && /\.connections\b/.test(String(factory));
}

function symbolFields(dispatcher: object): { options?: object; factory?: unknown } {
  const symbols = Object.getOwnPropertySymbols(dispatcher);
  return Object.fromEntries(
    symbols.map((fieldSymbol) => [fieldSymbol.description, Reflect.get(dispatcher, fieldSymbol)]),
  );
}
