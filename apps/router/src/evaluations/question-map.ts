import { isRecord } from "evaluator-kit";
import {
  choice,
  type KindName,
  type Question,
  type Questions,
  questionKinds,
  type StatePart,
} from "evaluator-client";
import { type Path, readList, readObject, readText, wrongField } from "./evaluation-form.ts";

/** The names of the kinds in a form with a map of questions; null for a kind that it lacks. */
export type KindNames = Readonly<Record<KindName, string | null>>;

/** Reads a map of questions, as the vendor's form and the gateway's have it. @throws HttpError (400) */
export function readQuestionMap(given: unknown, names: KindNames): Questions {
  const entries = Object.entries(readObject(given, ["questions"]));
  if (entries.length === 0) throw wrongField(["questions"], "is empty; ask at least one question");
  // Entries keep an id such as __proto__ as data.
  return Object.fromEntries(
    entries.map(([id, question]) => [id, readQuestion(question, names, ["questions", id])]),
  );
}

const kindNames = Object.keys(questionKinds) as KindName[];

function readQuestion(given: unknown, names: KindNames, path: Path): Question {
  const { type, instructions, criteria } = readObject(given, path);
  const kind = kindNames.find((each) => names[each] !== null && names[each] === type);
  if (kind === undefined) {
    const known = kindNames.flatMap((each) => names[each] ?? []).join(", ");
    throw wrongField([...path, "type"], `is none of ${known}`);
  }
  const read = criteriaReaders[kind](criteria, [...path, "criteria"]);
  const text = instructions ?? null;
  const question = {
    type: kind,
    instructions:
      text === null
        ? withoutInstructions[kind](path, read)
        : readText(text, [...path, "instructions"]),
    ...(read !== undefined && { criteria: read }),
  };
  return question as Question; // each reader returns the criteria of its kind
}

/** Reads the criteria of each kind. */
const criteriaReaders: Readonly<Record<KindName, (criteria: unknown, path: Path) => unknown>> = {
  // The list keeps the order of names such as "3", which JavaScript sorts in an object.
  choice: (criteria, path) => choice("", described(readObject(criteria, path), path)).criteria,
  score: (criteria, path) =>
    readList(criteria, path).map((level, at) => readText(level, [...path, at])),
  box: () => undefined,
  boolean(criteria, path) {
    if (criteria === undefined || criteria === null) return undefined;
    const { true: yes, false: no } = readObject(criteria, path);
    const given = Object.entries({ true: yes, false: no }).filter(
      ([, side]) => (side ?? null) !== null,
    );
    return Object.fromEntries(described(Object.fromEntries(given), path));
  },
};

function described(criteria: Readonly<Record<string, unknown>>, path: Path) {
  return Object.entries(criteria).map(([name, description]) => {
    return [name, description === null ? null : readText(description, [...path, name])] as const;
  });
}

/** The default question of each kind: the client requires one, and the vendor does not. Throws if the criteria are not enough. */
const withoutInstructions: Readonly<Record<KindName, (path: Path, criteria: unknown) => string>> = {
  choice: () => "Which option fits?",
  score: () => "Which level fits?",
  box(path) {
    throw wrongField([...path, "instructions"], "is missing; name the thing to find");
  },
  boolean(path, criteria) {
    if (isRecord(criteria) && Object.keys(criteria).length > 0) return "Is it so?";
    throw wrongField([...path, "instructions"], "is missing, and no criterion describes yes or no");
  },
};

/** Reads a state of JSON: a list becomes parts, of which a service without parts gets the JSON. @throws HttpError (400) */
export function readState(state: unknown) {
  if (typeof state === "string" || isRecord(state)) return state as string | Record<string, never>;
  if (!Array.isArray(state)) {
    const problem =
      state === undefined ? "is missing" : "is neither a text nor an object nor a list";
    throw wrongField(["state"], problem);
  }
  if (state.length === 0) throw wrongField(["state"], "is empty");
  return state.map(toPart);
}

function toPart(part: unknown): StatePart {
  if (typeof part === "string") return part;
  const url: unknown =
    isRecord(part) && part["type"] === "image_url" ? Object(part["image_url"])["url"] : null;
  return typeof url === "string" ? { image: url } : { json: part as never };
}
