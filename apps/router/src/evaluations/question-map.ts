import { isRecord } from "evaluator-kit";
import type { Question, Questions, StatePart } from "evaluator-client";
import { type Path, noQuestion, readObject, readText, wrongField } from "./evaluation-form.ts";
import { formKinds, type MapForm } from "./question-kinds.ts";

/** Reads the map of questions of a form. @throws HttpError (400) */
export function readQuestionMap(questionsJson: unknown, mapForm: MapForm): Questions {
  const entries = Object.entries(readObject(questionsJson, ["questions"]));
  if (entries.length === 0) throw noQuestion();
  // Entries keep an id such as __proto__ as data.
  return Object.fromEntries(
    entries.map(([id, question]) => [id, readQuestion(question, mapForm, ["questions", id])]),
  );
}

function readQuestion(questionJson: unknown, mapForm: MapForm, path: Path): Question {
  const { type, instructions, criteria } = readObject(questionJson, path);
  const knownEntries = Object.entries(formKinds).filter(([, { names }]) => names[mapForm] !== null);
  const foundEntry = knownEntries.find(([, { names }]) => names[mapForm] === type);
  if (foundEntry === undefined) {
    const kindNames = knownEntries.map(([, { names }]) => names[mapForm]).join(", ");
    throw wrongField([...path, "type"], `is none of ${kindNames}`);
  }
  const [kindName, { readCriteria, defaultInstructions }] = foundEntry;
  const read = readCriteria(criteria, [...path, "criteria"]);
  const text = instructions ?? null;
  const question = {
    type: kindName,
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
  const imageUrl: unknown =
    isRecord(part) && part["type"] === "image_url" ? Object(part["image_url"])["url"] : null;
  return typeof imageUrl === "string" ? { image: imageUrl } : { json: part as never };
}
