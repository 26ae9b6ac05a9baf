import { AnswerTable, pickRecords } from "evaluator-calibration";
import { type CliContext, CliError, printable } from "evaluator-kit";
import type { Question } from "evaluator-client";
import type { JournalReader } from "../journal/journal-reader.ts";
import { readJournal } from "../journal/read-journal.ts";
import type { RecordSource } from "../input/record-source.ts";
import { toJournalPath } from "../output/paths.ts";

/** One question, and the records drawn for it in order, without the model's answers. */
export type LabelSheet = ReturnType<typeof sheetsOf>[number];

interface DrawOptions {
  /** Records of each question, at most. */
  readonly count: number;
  /** The same seed draws the same records from the same answers. */
  readonly seed: number;
  readonly signal: CliContext["signal"];
  readonly source: RecordSource;
}

/**
 * Draws records to label for each question from a journal, by strata of the printed value, so that
 * each label has the number of records that it represents.
 *
 * @throws CliError if the journal has no answer.
 */
export async function drawSheets(inputPath: string, options: DrawOptions): Promise<LabelSheet[]> {
  const path = toJournalPath(inputPath, options.source);
  const sheets = await readJournal(path, (journal) => sheetsOf(journal, path, options));
  if (sheets.length > 0) return sheets;
  throw new CliError(
    printable`The journal ${path} keeps no answers; start a run about its input first.`,
  );
}

function sheetsOf(journal: JournalReader, file: string, { count, seed, signal }: DrawOptions) {
  // A record that was asked about again keeps its newest answer.
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
    // The truth does not depend on the model, so the one with the most answers is drawn from.
    const [column] = table.columns
      .filter((candidate) => candidate.question === id)
      .toSorted((one, other) => other.ids.length - one.ids.length);
    const picked = column === undefined ? [] : pickRecords(column, { budget: count, seed });
    // The weight is the number of records that it represents: the inverse of its probability of a draw.
    const records = picked.map(({ id, drawn }) => {
      return { id, state: journal.find(id).state, weight: 1 / drawn };
    });
    return { id, question, records };
  });
}
