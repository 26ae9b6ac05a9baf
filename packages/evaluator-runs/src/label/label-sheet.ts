import { AnswerTable, drawRecords } from "evaluator-calibration/reports";
import type { Question } from "evaluator-client";
import { missingColumn, printable } from "evaluator-kit";
import type { AnsweredEntry } from "../sqlite/journal-rows.ts";
import type { LabelCommand } from "../options.ts";
import { firstAddress } from "../service.ts";
import type { SavedLabel } from "./label-file.ts";

/** One question, and the records to label, in order. */
export interface LabelSheet {
  readonly id: string;
  readonly question: Question;
  /** Each with the further fields of its label. */
  readonly records: readonly Pick<SavedLabel, "id" | "draw" | "origin" | "week">[];
  /** Returns the sheet after another label. @default it stays the same */
  readonly next?: () => LabelSheet;
  /** What the labels promise so far, and the limits of that. */
  readonly lines?: readonly string[];
  readonly limits?: readonly string[];
}

/** The answers of a journal, and their questions. */
export type LabelledAnswers = Awaited<ReturnType<typeof readTable>>;

/** Reads the newest answer of each record, as a journal with a name keeps them. */
export async function readTable(
  entries: Iterable<AnsweredEntry> | AsyncIterable<AnsweredEntry>,
  file: string,
  { onePer }: Pick<LabelCommand, "onePer"> = {},
) {
  const table = new AnswerTable({ last: true, onePer });
  const questions = new Map<string, Question>();
  for await (const entry of entries) {
    for (const [name, question] of Object.entries(entry.questions)) questions.set(name, question);
    table.addEvaluation({ ...entry, wire: firstAddress(entry.service.address) }, { file });
  }
  return { table, questions };
}

/**
 * Draws records to label for each question, each record as likely as the others. The same seed draws the
 * same records from the same answers, and a larger count draws them first.
 */
export function drawSheets(
  { table, questions }: LabelledAnswers,
  { count, seed, onePer }: Pick<LabelCommand, "count" | "seed" | "onePer">,
): LabelSheet[] {
  const { clusters } = table;
  if (onePer !== undefined && clusters.size === 0) {
    const fieldProblem = printable`No record has a field "${onePer}"`;
    throw missingColumn(fieldProblem, "--one-per", table.repeats.names);
  }
  return Array.from(questions, ([id, question]) => {
    // A calibration is of one model.
    const largestColumn = table.largest(id) ?? { ids: [] };
    const drawnIds = drawRecords(largestColumn, { budget: count, seed, clusters });
    return { id, question, records: drawnIds.map((drawnId) => ({ id: drawnId })) };
  });
}
