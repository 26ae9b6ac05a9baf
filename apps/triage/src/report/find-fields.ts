import type { TriageRecord } from "../output/triage-record.ts";

/** The answers in results, sorted by what they are. */
export interface ResultFields {
  /** Fields with the picked option. */
  readonly choices: readonly string[];
  /** Fields with a mean level. */
  readonly scores: readonly string[];
  /** Fields with a probability. */
  readonly booleans: readonly string[];
  /** Fields with a confidence. */
  readonly confidences: readonly string[];
}

const others = new Set(["id", "date", "from", "subject", "error"]);

/** Finds out what the fields of results are: a confidence beside one says that it is no boolean. */
export function findFields(records: readonly TriageRecord[]): ResultFields {
  const names = [...new Set(records.flatMap((record) => Object.keys(record)))];
  const answers = names.filter((name) => !others.has(name));
  const confidences = answers.filter(
    (name) => name.endsWith("Conf") && answers.includes(name.slice(0, -4)),
  );
  const values = answers.filter((name) => !confidences.includes(name));
  const isText = (name: string) => records.some((record) => typeof record[name] === "string");
  const choices = values.filter(isText);
  const numbers = values.filter((name) => !choices.includes(name));
  const scores = numbers.filter((name) => confidences.includes(`${name}Conf`));
  const booleans = numbers.filter((name) => !scores.includes(name));
  return { choices, scores, booleans, confidences };
}
