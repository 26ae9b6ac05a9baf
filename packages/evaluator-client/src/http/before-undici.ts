import { noteOwnDispatchers, olderKey, readDispatchers } from "./program-dispatcher.ts";

const before = readDispatchers();

/** Notes the dispatchers that undici has set as it was evaluated, and restores the program's of undici 6 or 7. */
export function afterUndiciLoaded(): void {
  noteOwnDispatchers(before);
  if (before.older !== undefined) Reflect.set(globalThis, olderKey, before.older);
}
