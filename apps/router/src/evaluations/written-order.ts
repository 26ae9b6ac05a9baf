import { findSortedKeys, isRecord, type JsonPath } from "evaluator-kit";
import { choice } from "evaluator-client";

/** A body whose options keep their written order, and the fields with objects that lost theirs. */
interface OrderedBody {
  readonly body: unknown;
  readonly sortedNames: readonly string[];
}

const inputFields = ["state", "stateParts", "input", "questions"] as const;

/**
 * Returns a parsed body with the options of its questions in the order of its text, which is input to the model
 * (contract section 1.5); JavaScript sorts names such as "3".
 */
export function inWrittenOrder(requestText: string, body: unknown): OrderedBody {
  const sortedKeys = findSortedKeys(requestText, body);
  const optionObjects = sortedKeys.filter(({ path }) => isOptions(path));
  const sortedNames = sortedKeys
    .filter(({ path }) => !isOptions(path))
    .map(({ path: [field] }) => field);
  const questions = isRecord(body) ? body["questions"] : null;
  if (isListSorted(questions)) sortedNames.push("questions");
  const sortedFields = inputFields.filter((field) => sortedNames.some((one) => one === field));
  if (!isRecord(body) || !isRecord(questions)) return { body, sortedNames: sortedFields };
  const reorderedQuestions = optionObjects.map(({ path, keys }) => {
    const id = String(path[1]);
    const question = questions[id] as Readonly<Record<string, object>>;
    return [id, { ...question, criteria: inOrder(question["criteria"] ?? {}, keys) }] as const;
  });
  const allQuestions = Object.fromEntries([...Object.entries(questions), ...reorderedQuestions]);
  return { body: { ...body, questions: allQuestions }, sortedNames: sortedFields };
}

/** Returns whether JavaScript sorts the names of listed questions, which are the keys of their answers. */
function isListSorted(questions: unknown): boolean {
  if (!Array.isArray(questions)) return false;
  const questionNames = questions.map((question) => {
    const name: unknown = Object(question)["name"];
    return typeof name === "string" ? name : "";
  });
  const keys = Object.keys(Object.fromEntries(questionNames.map((name) => [name, true])));
  // Questions of one name, or without names, are numbered.
  return keys.length === questionNames.length && keys.some((key, at) => key !== questionNames[at]);
}

function isOptions([topField, , criteria, ...deeperPath]: JsonPath): boolean {
  return topField === "questions" && criteria === "criteria" && deeperPath.length === 0;
}

/** Returns options in an order, with descriptions of JSON as text. */
function inOrder(criteria: object, orderedKeys: readonly string[]): object {
  const valuesByKey = new Map<string, unknown>(Object.entries(criteria));
  const orderedPairs = orderedKeys.map((key) => {
    const value = valuesByKey.get(key) ?? null;
    return [key, typeof value === "object" && value !== null ? JSON.stringify(value) : value];
  });
  return choice("", orderedPairs as [string, string | null][]).criteria;
}
