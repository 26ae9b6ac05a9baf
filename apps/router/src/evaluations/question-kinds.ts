import { isRecord } from "evaluator-kit";
import { type Answer, type BooleanAnswer, choice, type KindName } from "evaluator-client";
import { type Path, readList, readObject, readText, wrongField } from "./evaluation-form.ts";

/** A form with a map of questions. */
export type MapForm = "gateway" | "systemone" | "gemini";

/** A question kind in the forms with a map of questions. */
interface FormKind {
  /** Its name in each form; null for a form that lacks it. */
  readonly names: Readonly<Record<MapForm, string | null>>;
  /** Returns the criteria for the client; undefined for none. @throws HttpError (400) */
  readonly readCriteria: (criteria: unknown, fieldPath: Path) => unknown;
  /** Returns the question if it has no instructions, which the client requires and the vendor does not. @throws HttpError (400) */
  readonly defaultInstructions: (fieldPath: Path, criteria: unknown) => string;
  /** Returns an answer in the vendor's form. @default the answer unchanged */
  readonly toVendor?: (kindAnswer: Answer) => object;
  /** Returns the vendor's list of levels by their index, as the client wrote them. @default none */
  readonly legend?: (criteria: unknown) => object;
}

/** The question kinds in the forms with a map of questions. */
export const formKinds: Readonly<Record<KindName, FormKind>> = {
  choice: {
    names: { gateway: "choice", systemone: "choice", gemini: "choice" },
    // The list keeps the order of names such as "3", which JavaScript sorts in an object.
    readCriteria: (criteria, fieldPath) =>
      choice("", described(readObject(criteria, fieldPath), fieldPath)).criteria,
    defaultInstructions: () => "Which option fits?",
  },
  score: {
    names: { gateway: "score", systemone: "score", gemini: "score" },
    readCriteria: (criteria, fieldPath) =>
      readList(criteria, fieldPath).map((levelText, at) => readText(levelText, [...fieldPath, at])),
    defaultInstructions: () => "Which level fits?",
    legend: (criteria) => Object.fromEntries(Object.entries(criteria as object)),
  },
  boolean: {
    names: { gateway: "boolean", systemone: "noul", gemini: "noul" },
    readCriteria(criteria, fieldPath) {
      if (criteria === undefined || criteria === null) return undefined;
      const { true: yesText, false: noText } = readObject(criteria, fieldPath);
      const givenEntries = Object.entries({ true: yesText, false: noText }).filter(
        ([, criterion]) => (criterion ?? null) !== null,
      );
      return Object.fromEntries(described(Object.fromEntries(givenEntries), fieldPath));
    },
    defaultInstructions(fieldPath, criteria) {
      if (isRecord(criteria) && Object.keys(criteria).length > 0) return "Is it so?";
      const problem = "is missing, and no criterion describes yes or no";
      throw wrongField([...fieldPath, "instructions"], problem);
    },
    toVendor(kindAnswer) {
      const { type: _type, probability, ...otherFields } = kindAnswer as BooleanAnswer;
      return { ...otherFields, type: "noul", noul: probability };
    },
  },
  box: {
    names: { gateway: null, systemone: "box", gemini: null },
    readCriteria: () => undefined,
    defaultInstructions(fieldPath) {
      throw wrongField([...fieldPath, "instructions"], "is missing; name the thing to find");
    },
  },
};

function described(criteria: Readonly<Record<string, unknown>>, path: Path) {
  return Object.entries(criteria).map(([name, description]) => {
    return [name, description === null ? null : readText(description, [...path, name])] as const;
  });
}
