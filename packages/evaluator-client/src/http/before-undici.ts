// Evaluated before undici, which crashes on an older Node with a useless error.
const [major = 0, minor = 0] = (globalThis.process?.versions.node ?? "").split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  throw new Error(
    `evaluator-client needs Node 22.19 or later, and this is Node ${process.versions.node}.`,
  );
}

/** Where undici 8 keeps the dispatcher of the whole program, and where undici 6 and 7 do. */
export const globalDispatcherKeys = {
  newer: Symbol.for("undici.globalDispatcher.2"),
  older: Symbol.for("undici.globalDispatcher.1"),
} as const;

/** The dispatchers that the program had when this package was loaded. */
export const dispatchersBefore = {
  newer: Reflect.get(globalThis, globalDispatcherKeys.newer) as unknown,
  older: Reflect.get(globalThis, globalDispatcherKeys.older) as unknown,
};
