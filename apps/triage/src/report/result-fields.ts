import { toPrintable } from "evaluator-cli-kit";
import type { TriageRecord } from "../output/write-records.ts";

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
  const scores = numbers.filter((name) => confidences.includes(confidenceOf(name)));
  const booleans = numbers.filter((name) => !scores.includes(name));
  return { choices, scores, booleans, confidences };
}

// What a calibration changed stands beside the value as it was printed.
function confidenceOf(name: string): string {
  return `${name.replace(/Printed$/, "")}Conf`;
}

/** Returns a field's name as a heading: `brandDeal` is "Brand deal". */
export function fieldTitle(field: string): string {
  const words = toPrintable(field).replace(/(?<=[\p{Ll}\d])\p{Lu}/gu, (letter) => ` ${letter}`);
  return words.slice(0, 1).toUpperCase() + words.slice(1).toLowerCase();
}

const LOW_CONFIDENCE = 0.5;
const UNDECIDED_WITHIN = 0.2;
const LISTED = 50;
// 0.7 - 0.5 is a little less than 0.2 for a computer, and not for a person.
const EPSILON = 1e-9;

/** When a mail is uncertain, as a person reads it. */
export const uncertaintyRule = `Mails without an answer, with a confidence below ${LOW_CONFIDENCE}, or with a probability within ${UNDECIDED_WITHIN} of one half; the ${LISTED} with the most reasons.`;

/** A mail that a person should look at, and why. */
export interface UncertainMail {
  readonly record: TriageRecord;
  readonly reasons: readonly string[];
}

/** Finds the mails with a low confidence, an undecided probability or no answer; most reasons first. */
export function findUncertain(
  records: readonly TriageRecord[],
  { booleans, confidences }: ResultFields,
): UncertainMail[] {
  // What a calibration has changed counts, and not what came.
  const isReplaced = (name: string) =>
    name.endsWith("Printed") && booleans.includes(name.slice(0, -"Printed".length));
  const decided = booleans.filter((name) => !isReplaced(name));
  return records
    .map((record) => ({ record, reasons: reasonsFor(record, { confidences, decided }) }))
    .filter(({ reasons }) => reasons.length > 0)
    .toSorted((one, other) => other.reasons.length - one.reasons.length)
    .slice(0, LISTED);
}

function reasonsFor(
  record: TriageRecord,
  { confidences, decided }: Record<"confidences" | "decided", readonly string[]>,
): string[] {
  if (typeof record["error"] === "string") return ["no answer"];
  const low = confidences.filter((name) => isBelow(record[name], LOW_CONFIDENCE));
  const open = decided.filter((name) =>
    isBelow(distance(record[name]), UNDECIDED_WITHIN - EPSILON),
  );
  return [...low, ...open].map(
    (name) => `${fieldTitle(name).toLowerCase()} ${Number(record[name]).toFixed(2)}`,
  );
}

function isBelow(value: string | number | null | undefined, bound: number): boolean {
  return typeof value === "number" && value < bound;
}

function distance(value: string | number | null | undefined): number | null {
  return typeof value === "number" ? Math.abs(value - 0.5) : null;
}
