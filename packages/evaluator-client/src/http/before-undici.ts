import { olderKey } from "./program-dispatcher.ts";

const before: unknown = Reflect.get(globalThis, olderKey);

/** Restores the program's dispatcher of undici 6 or 7, which undici 8 has replaced as it was evaluated. */
export function afterUndiciLoaded(): void {
  if (before !== undefined) Reflect.set(globalThis, olderKey, before);
}
