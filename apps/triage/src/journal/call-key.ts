import { hash } from "node:crypto";

/**
 * Gives the name an answer is kept under: a hash of state, questions, model and wire.
 *
 * @param setup - The hash of what all calls of the run have in common.
 * @param state - The state as JSON.
 * @param repeat - How many earlier records of the input have the same state; each has its own call.
 */
export function callKey(setup: string, state: string, repeat: number): string {
  const key = hash("sha256", `${setup}\n${state}`, "base64url");
  return repeat === 0 ? key : `${key}#${repeat}`;
}

/** Says whether a key is that of a state under a setup, whichever repeat it is. */
export function isKeyOf(key: string, setup: string, state: string): boolean {
  return key.split("#", 1).join("") === callKey(setup, state, 0);
}
