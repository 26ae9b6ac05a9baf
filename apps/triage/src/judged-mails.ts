import { calibratedAnswers } from "./calibration.ts";
import type { ResultRow, RunResults } from "./journal-results.ts";
import type { NewMails } from "./journal/journal-reader.ts";
import type { TriageRecord } from "./output/write-records.ts";
import type { JudgedMail } from "./rules/conditions.ts";

/** Returns the mails of results as conditions read them, one at a time. */
export async function* judgedRows(results: RunResults): AsyncGenerator<JudgedMail, undefined> {
  const { calibration } = results;
  const newMails = await results.newMails();
  for await (const row of results.rows) yield toJudged(row, { calibration, newMails });
}

/** Returns a mail of results as conditions read it. */
export function toJudged(
  row: ResultRow,
  { calibration, newMails }: Pick<RunResults, "calibration"> & { newMails: NewMails | null },
): JudgedMail {
  const { mail, kept } = row;
  const answers = kept === null ? null : calibratedAnswers(kept, calibration).answers;
  return new JudgedRow(row, answers, newMails?.ids.has(mail.id) ?? false);
}

/** A row as conditions read it; its record is made when one asks for it. */
class JudgedRow implements JudgedMail {
  readonly date: string;
  readonly answers: JudgedMail["answers"];
  readonly isNew: boolean;
  readonly #row: ResultRow;

  constructor(row: ResultRow, answers: JudgedMail["answers"], isNew: boolean) {
    this.date = row.mail.date;
    this.answers = answers;
    this.isNew = isNew;
    this.#row = row;
  }

  get record(): TriageRecord {
    return this.#row.record;
  }
}
