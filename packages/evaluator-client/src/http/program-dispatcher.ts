import { isProxy } from "node:util/types";
import type { AnyDispatcher } from "./http-client.ts";

// This file is evaluated before undici, which crashes on an older Node with a useless error.
const [major = 0, minor = 0] = (globalThis.process?.versions.node ?? "").split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  throw new Error(
    `evaluator-client needs Node 22.19 or later, and this is Node ${process.versions.node}.`,
  );
}

/** Where undici 8 keeps the dispatcher of the whole program, and where undici 6 and 7 do. */
export const dispatcherKeys = {
  newer: Symbol.for("undici.globalDispatcher.2"),
  older: Symbol.for("undici.globalDispatcher.1"),
};
let ownDispatchers: readonly unknown[] = [];

/** Returns the dispatchers of the whole program. */
export function readDispatchers(): { newer: unknown; older: unknown } {
  const { newer, older } = dispatcherKeys;
  return { newer: Reflect.get(globalThis, newer), older: Reflect.get(globalThis, older) };
}

/** Notes the dispatchers that undici has just set, and restores the program's one of undici 6 or 7. */
export function noteOwnDispatchers(before: ReturnType<typeof readDispatchers>): void {
  if (before.newer !== undefined) return;
  ownDispatchers = Object.values(readDispatchers());
  if (before.older !== undefined) Reflect.set(globalThis, dispatcherKeys.older, before.older);
}

/** Returns "fetch" if the program has replaced Node's own, else the dispatcher that it has set, of any undici, or null. */
export function findReplacement(
  fetch: unknown,
  { newer, older }: ReturnType<typeof readDispatchers>,
): AnyDispatcher | "fetch" | null {
  // Node's own is written in JavaScript; a Proxy or a bound function shows no source.
  const source = typeof fetch === "function" ? Function.prototype.toString.call(fetch) : null;
  if (source !== null && !source.includes("internal/deps/undici/undici")) return "fetch";
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

function nameOf(dispatcher: object): string {
  return dispatcher.constructor.name;
}
