import type { Basis } from "./answers/judgement.ts";

/** The name an evaluation answered by the judge carries wherever a wire names the model. */
export const lexicalModel = "local/lexical-1";

/** The name an evaluation answered by the user's rules carries. */
export const ruleModel = "local/rules-1";

/** The name a text reply carries wherever a wire names the model. */
export const echoModel = "local/echo-1";

/** The provider that answers in the emulator's place of one. */
export const localProvider = "local";

/** Returns the stand-in that answered an evaluation, or null where a recorded model did. */
export function standInFor(basis: Basis): string | null {
  if (basis === "recorded") return null;
  return basis === "rule" ? ruleModel : lexicalModel;
}

/** Returns the header by which every answer says what it is based on. */
export function basisHeader(basis: Basis): Record<string, string> {
  return { "x-evaluator-emulator": `basis=${basis}` };
}
