import { hash } from "node:crypto";

/** A question as the client sends it, as far as its answer hangs on it. */
export interface AskedQuestion {
  readonly type: "boolean" | "choice" | "score";
  readonly instructions: unknown;
  readonly criteria?: unknown;
}

/** Questions by id, as they were asked together. */
export type AskedQuestions = Readonly<Record<string, AskedQuestion>>;

/**
 * Returns a hash of questions as the model reads them: another word, option, level or order of them
 * makes another hash.
 */
export function questionHash(questions: AskedQuestions): string {
  const asked = Object.entries(questions).map(([id, { type, instructions, criteria }]) => [
    id,
    type,
    instructions,
    criteria ?? null,
  ]);
  return hash("sha256", JSON.stringify(asked), "base64url");
}
