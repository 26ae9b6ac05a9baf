import { AnswerTable, drawRecords } from "evaluator-calibration";
import type { Question } from "evaluator-client";
import { CliError, printable } from "evaluator-kit";
import type { JournalReader } from "../journal/journal-reader.ts";
import type { LabelCommand } from "../options.ts";

/** One question, and the ids of the records to label, in order. */
export interface LabelSheet {
  readonly id: string;
  readonly question: Question;
  readonly ids: readonly string[];
}

/** How records are drawn. */
type DrawOptions = Pick<LabelCommand, "count" | "seed" | "onePer"> & {
  /** The path of the journal. */
  readonly file: string;
  readonly signal: AbortSignal;
};

/**
 * Draws records to label for each question, each record as likely as the others. The same seed draws the
 * same records from the same answers, and a larger count draws them first.
 */
export function drawSheets(journal: JournalReader, options: DrawOptions): LabelSheet[] {
  const { count, seed, onePer } = options;
  const { table, questions } = readTable(journal, options);
  const { clusters } = table;
  if (onePer !== undefined && clusters.size === 0) {
    throw new CliError(printable`No state has a field "${onePer}". Name another with --one-per.`);
  }
  return [...questions].map(([id, question]) => {
    // The truth does not depend on the model, so the one with the most answers is drawn from.
    const [column] = table.columns
      .filter((candidate) => candidate.question === id)
      .toSorted((one, other) => other.ids.length - one.ids.length);
    const ids = drawRecords(column?.ids ?? [], { budget: count, seed, clusters });
    return { id, question, ids };
  });
}

function readTable(journal: JournalReader, { onePer, file, signal }: DrawOptions) {
  // A record that was asked about again keeps its newest answer.
  const table = new AnswerTable({ last: true, onePer });
  const questions = new Map<string, Question>();
  for (const entry of journal.answered()) {
    signal.throwIfAborted();
    const { id, service, state, evaluation } = entry;
    for (const [name, question] of Object.entries(entry.questions)) questions.set(name, question);
    if (typeof state === "object" && state !== null) table.noteCluster(id, state);
    const answered = { id, questions: entry.questions, wire: service.address, evaluation };
    table.addEvaluation(answered, { file });
  }
  return { table, questions };
}
