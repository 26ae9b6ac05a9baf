import { calibratedAnswers } from "./calibration.ts";
import { receivedDay } from "./input/mail.ts";
import type { ResultRow, RunResults } from "./journal-results.ts";
import type { NewMails } from "./journal/journal-reader.ts";
import type { TriageRecord } from "./output/write-records.ts";
import type { AnsweredMail } from "./rules/conditions.ts";

/** Returns the mails of results as conditions read them, one at a time. */
export async function* answeredMails(results: RunResults): AsyncGenerator<AnsweredMail, undefined> {
  const { calibration } = results;
  const newMails = await results.newMails();
  for await (const row of results.rows) yield toAnswered(row, { calibration, newMails });
}

/** Returns a mail of results as conditions read it. */
export function toAnswered(
  row: ResultRow,
  { calibration, newMails }: Pick<RunResults, "calibration"> & { newMails: NewMails | null },
): AnsweredMail {
  const { mail, kept } = row;
  const answers = kept === null ? null : calibratedAnswers(kept, calibration).answers;
  return new AnsweredRow(row, answers, newMails?.ids.has(mail.id) ?? false);
}

/** A row as conditions read it; its record is made when one asks for it. */
class AnsweredRow implements AnsweredMail {
  readonly day: string;
  readonly answers: AnsweredMail["answers"];
  readonly isNew: boolean;
  readonly isRefused: boolean;
  readonly #row: ResultRow;

  constructor(row: ResultRow, answers: AnsweredMail["answers"], isNew: boolean) {
    this.day = receivedDay(row.mail);
    this.answers = answers;
    this.isNew = isNew;
    this.isRefused = row.isRefused === true;
    this.#row = row;
  }

  get record(): TriageRecord {
    return this.#row.record;
  }
}
