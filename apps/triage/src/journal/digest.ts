import { hash } from "node:crypto";

/** The parts of a kept answer; the last two are JSON, so none has a line break. */
export interface KeptTexts {
  readonly key: string;
  readonly state: string;
  readonly evaluation: string;
}

/** Gives the digest that shows whether what is kept is still as it was written. */
export function digestOf({ key, state, evaluation }: KeptTexts): string {
  return hash("sha256", `${key}\n${state}\n${evaluation}`, "base64url");
}

/** Says whether a row of the journal is still as it was written. */
export function isAsWritten({ key, state, evaluation, digest }: Record<string, unknown>): boolean {
  const texts = { key: String(key), state: String(state), evaluation: String(evaluation) };
  return digestOf(texts) === digest;
}
