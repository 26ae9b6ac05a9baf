import type { MailRow, ShownQuestion } from "./mail-row.ts";

/** What the plots of a page are drawn from: numbers, and no mail. */
export class Tally {
  /** Of each question, its value for each mail that is answered. */
  readonly values: readonly number[][];
  /** The day of each of these mails, in milliseconds; NaN where there is none. */
  readonly days: number[] = [];
  /** How many mails each address sent. */
  readonly senders = new Map<string, number>();
  failed = 0;
  added = 0;

  constructor(questions: readonly ShownQuestion[]) {
    this.values = questions.map(() => []);
  }

  /** Adds a mail. */
  add({ answers, day, isNew, sender, address }: MailRow): void {
    const from = (address || sender).toLowerCase();
    this.senders.set(from, (this.senders.get(from) ?? 0) + 1);
    this.added += Number(isNew);
    if (answers === null) {
      this.failed += 1;
      return;
    }
    this.days.push(Date.parse(day));
    for (const [at, { value }] of answers.entries()) this.values[at]?.push(value);
  }
}
