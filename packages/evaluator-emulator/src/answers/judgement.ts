import type { JudgedAnswer } from "../questions/kinds/kinds.ts";

/** Where an answer comes from, as the header `x-evaluator-emulator` names it. */
type Basis = "recorded" | "rule" | "lexical" | "none";

/** The answers to a request, before a wire gives them their form. */
export interface Judgement {
  readonly basis: Basis;
  /** The release that a recording names, or null. */
  readonly release: string | null;
  readonly answers: Readonly<Record<string, JudgedAnswer>>;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
  /** Decimal places of the answers. */
  readonly decimals: number;
}

/** The model of an evaluation that the judge answered, wherever a wire names it. */
export const lexicalModel = "local/lexical-1";

/** The model of an evaluation that the user's rules answered. */
export const ruleModel = "local/rules-1";

/** The model of a text reply. */
export const echoModel = "local/echo-1";

/** Returns the emulator's model that answered, or null if a recorded model did. */
export function standInFor(judgedBasis: Basis): string | null {
  if (judgedBasis === "recorded") return null;
  return judgedBasis === "rule" ? ruleModel : lexicalModel;
}

/** Returns a JSON response with the header of an answer's basis. */
export function answerJson(replyBody: object, judgedBasis: Basis): Response {
  return Response.json(replyBody, { headers: basisHeader(judgedBasis) });
}

/** Returns the header that names an answer's basis. */
export function basisHeader(judgedBasis: Basis): Record<string, string> {
  return { "x-evaluator-emulator": `basis=${judgedBasis}` };
}
