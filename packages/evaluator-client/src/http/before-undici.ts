import { noteOwnDispatchers, readDispatchers } from "./program-dispatcher.ts";

const before = readDispatchers();

/** Sorts out the dispatchers that undici has set since this file was evaluated. */
export function afterUndiciLoaded(): void {
  noteOwnDispatchers(before);
}
