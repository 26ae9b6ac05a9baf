import { hash } from "node:crypto";

/**
 * Returns the name an answer is kept under: a hash of state, questions, model and wire.
 *
 * @param setup - The hash of what all calls of the run have in common.
 * @param state - The state as JSON.
 */
export function callKey(setup: string, state: string): string {
  return hash("sha256", `${setup}\n${state}`, "base64url");
}

/** Returns the name for a later record with the same state; each has its own call. */
export function repeatedKey(key: string, repeat: number): string {
  return repeat === 0 ? key : `${key}#${repeat}`;
}

/** Returns whether a key is that of a state under a setup, whichever repeat it is. */
export function isKeyOf(key: string, setup: string, state: string): boolean {
  return key.split("#", 1).join("") === callKey(setup, state);
}
