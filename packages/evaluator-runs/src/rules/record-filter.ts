import { UsageError } from "evaluator-kit";
import { type AnsweredRecord, meetsAll } from "./conditions.ts";
import type { Column } from "../columns/columns.ts";
import { readConditions } from "./read-conditions.ts";
import { ConditionError } from "./split-words.ts";

/** Which mails of the results are shown, as typed. */
export interface FilterOptions {
  /** The first day on which shown mails were received, `YYYY-MM-DD`; undefined for all. */
  readonly since?: string | undefined;
  /** Conditions on the answers; undefined for none. */
  readonly only?: string | undefined;
}

/**
 * Returns a function that returns whether a mail is shown; null where all are.
 *
 * @throws UsageError that says where `--only` names no answer, and which there are.
 */
export function readFilter(
  { since, only }: FilterOptions,
  columns: readonly Column[],
): ((mail: AnsweredRecord) => boolean) | null {
  if (since === undefined && only === undefined) return null;
  const conditions = only === undefined ? [] : readOnly(only, columns);
  return (mail) => (since === undefined || mail.day >= since) && meetsAll(conditions, mail);
}

function readOnly(only: string, columns: readonly Column[]) {
  try {
    const { conditions, arrow } = readConditions(only, columns);
    if (arrow === null) return conditions;
    throw new ConditionError(arrow.at, "an arrow belongs into a file of --rules");
  } catch (error) {
    if (!(error instanceof ConditionError)) throw error;
    throw new UsageError(`--only, column ${error.at + 1}: ${error.message}.`);
  }
}

/** Returns in words what is left out, for a person who sees the rest; null when nothing is. */
export function describeFilter({ since, only }: FilterOptions): string | null {
  const parts = [
    since === undefined ? [] : [`since ${since}`],
    only === undefined ? [] : [`only ${only}`],
  ];
  return parts.flat().join(", ") || null;
}
