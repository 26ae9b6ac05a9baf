import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";

/** The form of a printed value: the probability of yes, or a probability for each option. */
export type Form = "probability" | "distribution";

/**
 * The kinds by the names in answer records and questions; null for a kind whose answers are not scored. Everything else
 * in this package goes by the form.
 */
export const kinds = {
  boolean: { form: "probability", isOrdered: false },
  choice: { form: "distribution", isOrdered: false },
  score: { form: "distribution", isOrdered: true },
  box: null,
} as const satisfies Record<string, { readonly form: Form; readonly isOrdered: boolean } | null>;

type Kinds = typeof kinds;

/** A kind of question whose answers have a form that can be scored. */
export type QuestionKind = {
  [TName in keyof Kinds]: Kinds[TName] extends null ? never : TName;
}[keyof Kinds];

/** Returns the form of a kind's answers. @throws RangeError for a kind that is not known. */
export function toForm(kindName: string): Kinds[QuestionKind] {
  const answerForm = isKind(kindName) && kinds[kindName];
  if (answerForm) return answerForm;
  throw new RangeError(unknownKind(kindName));
}

/** Whether a name is that of a kind. */
export function isKind(kindName: unknown): kindName is keyof Kinds {
  return Object.hasOwn(kinds, kindName as string);
}

/** Describes a type that is no kind, for messages. */
export function unknownKind(typeName: unknown): string {
  return `There is no kind ${JSON.stringify(typeName)}; use ${Object.keys(kinds).join(", ")}`;
}

/** Returns the kind of an answer with several options: the named one if it fits them. */
export function listedKind(kindName: unknown, options: readonly string[]): QuestionKind {
  const isLevels = options.every((optionName, optionIndex) => optionName === String(optionIndex));
  const namedKind = isKind(kindName) ? kinds[kindName] : null;
  const fitsOptions = namedKind?.form === "distribution" && (isLevels || !namedKind.isOrdered);
  if (fitsOptions) return kindName as QuestionKind;
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
  const questionRows = Object.entries(questions).map(
    ([questionId, { type, instructions, criteria }]) => [
      questionId,
      type,
      instructions,
      criteria ?? null,
    ],
  );
  const hashBytes = sha256(utf8ToBytes(JSON.stringify(questionRows)));
  return btoa(String.fromCharCode(...hashBytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace("=", "");
}
