import { isRecord } from "evaluator-kit";
import type { Question, Questions, StatePart } from "evaluator-client";
import { type Path, noQuestion, readObject, readText, wrongField } from "./evaluation-form.ts";
import { formKinds, type MapForm } from "./question-kinds.ts";

/** Reads the map of questions of a form. @throws HttpError (400) */
export function readQuestionMap(questionsJson: unknown, form: MapForm): Questions {
  const entries = Object.entries(readObject(questionsJson, ["questions"]));
  if (entries.length === 0) throw noQuestion();
  // Entries keep an id such as __proto__ as data.
  return Object.fromEntries(
    entries.map(([id, question]) => [id, readQuestion(question, form, ["questions", id])]),
  );
}

function readQuestion(questionJson: unknown, form: MapForm, path: Path): Question {
  const { type, instructions, criteria } = readObject(questionJson, path);
  const knownEntries = Object.entries(formKinds).filter(([, { names }]) => names[form] !== null);
  const foundEntry = knownEntries.find(([, { names }]) => names[form] === type);
  if (foundEntry === undefined) {
    const list = knownEntries.map(([, { names }]) => names[form]).join(", ");
    throw wrongField([...path, "type"], `is none of ${list}`);
  }
  const [kind, { readCriteria, defaultInstructions }] = foundEntry;
  const read = readCriteria(criteria, [...path, "criteria"]);
  const text = instructions ?? null;
  const question = {
    type: kind,
    instructions:
      text === null ? defaultInstructions(path, read) : readText(text, [...path, "instructions"]),
    ...(read !== undefined && { criteria: read }),
  };
  return question as Question; // each kind reads its own criteria
}

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
