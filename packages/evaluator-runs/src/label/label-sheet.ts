import { AnswerTable, type PickedRecord, pickRecords } from "evaluator-calibration";
import { type CliContext, CliError, printable } from "evaluator-kit";
import type { Question } from "evaluator-client";
import type { JournalReader } from "../journal/journal-reader.ts";
import { readJournal } from "../journal/read-journal.ts";
import { toJournalPath } from "../output/paths.ts";

/** A mail that was drawn, as the model read it; nothing of the model's answer is in it. */
type DrawnMail = ReturnType<typeof toDrawnMail>;

/** One question, and the mails drawn for it in the order they are shown. */
export interface LabelSheet {
  readonly id: string;
  readonly question: Question;
  readonly mails: readonly DrawnMail[];
}

/** What to draw. */
export interface DrawOptions {
  /** Mails of each question, at most. */
  readonly count: number;
  /** The same seed draws the same mails from the same answers. */
  readonly seed: number;
  readonly signal: CliContext["signal"];
}

/**
 * Draws mails to label for each question, from the answers that a file's journal keeps: by strata
 * of the printed value, so that each label knows how many mails it stands for.
 *
 * @throws CliError when the journal keeps no answer.
 */
export async function drawSheets(inputPath: string, options: DrawOptions): Promise<LabelSheet[]> {
  const path = toJournalPath(inputPath);
  const sheets = await readJournal(path, (journal) => sheetsOf(journal, path, options));
  if (sheets.length > 0) return sheets;
  throw new CliError(
    printable`The journal ${path} keeps no answers; run triage on its file first.`,
  );
}

function sheetsOf(
  journal: JournalReader,
  file: string,
  { count, seed, signal }: DrawOptions,
): LabelSheet[] {
  // Mails that were asked about again keep one answer, the newest.
  const table = new AnswerTable({ last: true });
  const questions = new Map<string, Question>();
  for (const entry of journal.answered()) {
    signal.throwIfAborted();
    for (const [id, question] of Object.entries(entry.questions)) questions.set(id, question);
    table.addEvaluation(
      {
        id: entry.id,
        questions: entry.questions,
        wire: entry.service.address,
        evaluation: entry.evaluation,
      },
      { file, line: 1 },
    );
  }
  return [...questions].map(([id, question]) => {
    // What is true of a mail hangs on no model, so the one that answered most is drawn from.
    const [column] = table.columns
      .filter((candidate) => candidate.question === id)
      .toSorted((one, other) => other.ids.length - one.ids.length);
    const picked = column === undefined ? [] : pickRecords(column, { budget: count, seed });
    return { id, question, mails: picked.map((record) => toDrawnMail(record, journal)) };
  });
}

function toDrawnMail({ id, drawn }: PickedRecord, journal: JournalReader) {
  // The weight is how many mails it stands for: the inverse of its probability of being drawn.
  return { id, state: journal.find(id).state, weight: 1 / drawn };
}
