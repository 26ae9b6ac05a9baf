import type { Basis } from "./answers/judgement.ts";

/** The header by which every answer says what it is based on. */
export function basisHeader(basis: Basis): Record<string, string> {
  return { "x-evaluator-emulator": `basis=${basis}` };
}
