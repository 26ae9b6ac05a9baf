import type { MailRow, ShownQuestion } from "./mail-row.ts";

/** What the plots of a page are drawn from: numbers, and no mail. */
export class Tally {
  /** Of each question, how many mails have which value. */
  readonly counts: readonly Map<number, number>[];
  /** The days of the answered mails that have one, in milliseconds. */
  readonly days: number[] = [];
  /** Of each question with levels, the mean level of each of these mails. */
  readonly levels: ReadonlyMap<number, number[]>;
  failed = 0;
  added = 0;

  constructor(questions: readonly ShownQuestion[]) {
    this.counts = questions.map(() => new Map());
    this.levels = new Map(
      questions.flatMap(({ form }, at) => (form === "number" ? [[at, []] as const] : [])),
    );
  }

  /** Adds a mail. */
  add({ answers, day, isNew }: MailRow): void {
    this.added += Number(isNew);
    if (answers === null) {
      this.failed += 1;
      return;
    }
    for (const [at, { value }] of answers.entries()) addTo(this.counts[at], value);
    const time = Date.parse(day);
    if (Number.isNaN(time)) return;
    this.days.push(time);
    for (const [at, levels] of this.levels) levels.push(answers[at]?.value ?? 0);
  }
}

/** Counts one more of a kind. */
export function addTo<TKey>(counts: Map<TKey, number> | undefined, key: TKey, count = 1): void {
  counts?.set(key, (counts.get(key) ?? 0) + count);
}
