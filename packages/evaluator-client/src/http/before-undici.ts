import { readDispatchers } from "./program-dispatcher.ts";

/** The dispatchers of the whole program before undici sets its own. */
export const dispatchersBefore = readDispatchers();
