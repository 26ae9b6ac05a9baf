import type { TriageRecord } from "../output/triage-record.ts";
import { fieldTitle } from "./field-title.ts";
import type { ResultFields } from "./find-fields.ts";

const LOW_CONFIDENCE = 0.5;
const UNDECIDED_WITHIN = 0.2;
const LISTED = 50;

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
  fields: ResultFields,
): UncertainMail[] {
  return records
    .map((record) => ({ record, reasons: reasonsFor(record, fields) }))
    .filter(({ reasons }) => reasons.length > 0)
    .toSorted((one, other) => other.reasons.length - one.reasons.length)
    .slice(0, LISTED);
}

function reasonsFor(record: TriageRecord, { confidences, booleans }: ResultFields): string[] {
  if (typeof record["error"] === "string") return ["no answer"];
  const low = confidences.filter((name) => isBelow(record[name], LOW_CONFIDENCE));
  const open = booleans.filter((name) => isBelow(distance(record[name]), UNDECIDED_WITHIN));
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
