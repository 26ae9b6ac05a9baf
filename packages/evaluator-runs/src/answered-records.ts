import { calibratedAnswers } from "./calibration.ts";
import type { ResultRow, RunResults } from "./journal-results.ts";
import type { NewMails } from "./journal/journal-reader.ts";
import type { ResultRecord } from "./output/write-records.ts";
import type { AnsweredRecord } from "./rules/conditions.ts";

/** Returns the mails of results as conditions read them, one at a time. */
export async function* answeredRecords(
  results: RunResults,
): AsyncGenerator<AnsweredRecord, undefined> {
  const { calibration, source } = results;
  const newMails = await results.newMails();
  for await (const row of results.rows) yield toAnswered(row, { calibration, source, newMails });
}

/** Returns a mail of results as conditions read it. */
export function toAnswered(
  row: ResultRow,
  {
    calibration,
    source,
    newMails,
  }: Pick<RunResults, "calibration" | "source"> & { newMails: NewMails | null },
): AnsweredRecord {
  const { input, kept } = row;
  const answers = kept === null ? null : calibratedAnswers(kept, calibration).answers;
  const isNew = newMails?.ids.has(input.id) ?? false;
  return new AnsweredRow(row, { answers, isNew, day: source.dayOf(input) });
}

/** A row as conditions read it; its record is made when one asks for it. */
class AnsweredRow implements AnsweredRecord {
  readonly day: string;
  readonly answers: AnsweredRecord["answers"];
  readonly isNew: boolean;
  readonly isRefused: boolean;
  readonly #row: ResultRow;

  constructor(
    row: ResultRow,
    { day, answers, isNew }: Pick<AnsweredRecord, "day" | "answers" | "isNew">,
  ) {
    this.day = day;
    this.answers = answers;
    this.isNew = isNew;
    this.isRefused = row.isRefused === true;
    this.#row = row;
  }

  get record(): ResultRecord {
    return this.#row.record;
  }
}
