import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";

/** The form of a printed value: the probability of yes, or a probability for each option. */
export type Form = "probability" | "distribution";

// Answer records and questions name a kind. Everything else in this package goes by its form.
const kinds = {
  boolean: { form: "probability", isOrdered: false },
  choice: { form: "distribution", isOrdered: false },
  score: { form: "distribution", isOrdered: true },
} as const satisfies Record<string, { readonly form: Form; readonly isOrdered: boolean }>;

/** A kind of question whose answers have a form that can be scored. */
export type QuestionKind = keyof typeof kinds;

/** Returns the form of a kind's answers. @throws RangeError for a kind that is not known. */
export function formOf(kind: string): (typeof kinds)[QuestionKind] {
  if (Object.hasOwn(kinds, kind)) return kinds[kind as QuestionKind];
  const known = Object.keys(kinds).join(", ");
  throw new RangeError(`The form of a ${JSON.stringify(kind)} answer is not known; use ${known}.`);
}

/** Returns the kind of an answer with several options: the named one if it fits them. */
export function listedKind(name: unknown, options: readonly string[]): QuestionKind {
  const isLevels = options.every((option, index) => option === String(index));
  const named = Object.keys(kinds).find((kind) => kind === name) as QuestionKind | undefined;
  const fits =
    named !== undefined &&
    kinds[named].form === "distribution" &&
    (isLevels || !kinds[named].isOrdered);
  if (fits) return named;
  return isLevels ? "score" : "choice";
}

/** A question as the client sends it: the parts that the answer depends on. */
export interface AskedQuestion {
  readonly type: string;
  readonly instructions: unknown;
  readonly criteria?: unknown;
}

/** Questions by id, in the order of the request. */
export type AskedQuestions = Readonly<Record<string, AskedQuestion>>;

/** Returns a hash of questions as the model reads them; another word or another order changes it. */
export function questionHash(questions: AskedQuestions): string {
  const asked = Object.entries(questions).map(([id, { type, instructions, criteria }]) => [
    id,
    type,
    instructions,
    criteria ?? null,
  ]);
  const digest = sha256(utf8ToBytes(JSON.stringify(asked)));
  return btoa(String.fromCharCode(...digest))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace("=", "");
}
