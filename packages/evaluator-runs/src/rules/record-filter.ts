import { UsageError } from "evaluator-kit";
import { z } from "zod";
import { type AnsweredRecord, meetsAll } from "./conditions.ts";
import { type NamedAnswers, readConditions } from "./read-conditions.ts";
import { ConditionError } from "./split-words.ts";

/** Which mails of the results are shown, as typed. */
export interface FilterOptions {
  /** The first day on which shown mails were received, `YYYY-MM-DD`; null for all. */
  readonly since: string | null;
  /** Conditions on the answers; null for none. */
  readonly only: string | null;
}

/** Throws a UsageError for a day that is none; what `--only` names is checked where the answers are known. */
export function checkSince(since: string | null): void {
  if (since === null || z.iso.date().safeParse(since).success) return;
  throw new UsageError("--since takes a day, such as --since 2026-11-02.");
}

/**
 * Returns a function that returns whether a mail is shown; null where all are.
 *
 * @throws UsageError that says where `--only` names no answer, and which there are.
 */
export function readFilter(
  { since, only }: FilterOptions,
  named: NamedAnswers,
): ((mail: AnsweredRecord) => boolean) | null {
  if (since === null && only === null) return null;
  const conditions = only === null ? [] : readOnly(only, named);
  return (mail) => (since === null || mail.day >= since) && meetsAll(conditions, mail);
}

function readOnly(only: string, named: NamedAnswers) {
  try {
    const { conditions, arrow } = readConditions(only, named);
    if (arrow === null) return conditions;
    throw new ConditionError(arrow.at, "an arrow belongs into a file of --rules");
  } catch (error) {
    if (!(error instanceof ConditionError)) throw error;
    throw new UsageError(`--only, column ${error.at + 1}: ${error.message}.`);
  }
}

/** Returns in words what is left out, for a person who sees the rest; null when nothing is. */
export function describeFilter({ since, only }: FilterOptions): string | null {
  const parts = [since === null ? [] : [`since ${since}`], only === null ? [] : [`only ${only}`]];
  return parts.flat().join(", ") || null;
}
