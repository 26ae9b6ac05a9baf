import { findSortedKeys, isRecord, type JsonPath } from "evaluator-kit";
import { choice } from "evaluator-client";

/** A body whose options keep their written order, and the fields with objects that lost theirs. */
interface OrderedBody {
  readonly body: unknown;
  readonly sortedNames: readonly string[];
}

const inputs = ["state", "stateParts", "input", "questions"] as const;

/**
 * Returns a parsed body with the options of its questions in the order of its text, which is input to the model
 * (contract section 1.5); JavaScript sorts names such as "3".
 */
export function inWrittenOrder(text: string, body: unknown): OrderedBody {
  const sortedKeys = findSortedKeys(text, body);
  const options = sortedKeys.filter(({ path }) => isOptions(path));
  const fields = sortedKeys
    .filter(({ path }) => !isOptions(path))
    .map(({ path: [field] }) => field);
  const questions = isRecord(body) ? body["questions"] : null;
  if (isListSorted(questions)) fields.push("questions");
  const sortedFields = inputs.filter((field) => fields.some((one) => one === field));
  if (!isRecord(body) || !isRecord(questions)) return { body, sortedNames: sortedFields };
  const reorderedQuestions = options.map(({ path, keys }) => {
    const id = String(path[1]);
    const question = questions[id] as Readonly<Record<string, object>>;
    return [id, { ...question, criteria: inOrder(question["criteria"] ?? {}, keys) }] as const;
  });
  const all = Object.fromEntries([...Object.entries(questions), ...reorderedQuestions]);
  return { body: { ...body, questions: all }, sortedNames: sortedFields };
}

/** Returns whether JavaScript sorts the names of listed questions, which are the keys of their answers. */
function isListSorted(questions: unknown): boolean {
  if (!Array.isArray(questions)) return false;
  const names = questions.map((question) => {
    const name: unknown = Object(question)["name"];
    return typeof name === "string" ? name : "";
  });
  const keys = Object.keys(Object.fromEntries(names.map((name) => [name, true])));
  // Questions of one name, or without names, are numbered.
  return keys.length === names.length && keys.some((key, at) => key !== names[at]);
}

function isOptions([field, , criteria, ...deeper]: JsonPath): boolean {
  return field === "questions" && criteria === "criteria" && deeper.length === 0;
}

/** Returns options in an order, with descriptions of JSON as text. */
function inOrder(criteria: object, keys: readonly string[]): object {
  const values = new Map<string, unknown>(Object.entries(criteria));
  const pairs = keys.map((key) => {
    const value = values.get(key) ?? null;
    return [key, typeof value === "object" && value !== null ? JSON.stringify(value) : value];
  });
  return choice("", pairs as [string, string | null][]).criteria;
}
