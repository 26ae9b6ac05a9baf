import { DatabaseSync } from "node:sqlite";
import { deflateRawSync } from "node:zlib";
import type { MailRow } from "./mail-row.ts";
import type { Sections } from "./sections.ts";

// SQLite keeps a database without a name in memory, and above 2 MB in a nameless temporary file.
const setup = `PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
CREATE TABLE mails
  (mail INTEGER PRIMARY KEY, section INT, weight REAL, day TEXT, sender TEXT, row TEXT);
BEGIN`;
const inOrder = "CREATE INDEX IF NOT EXISTS ranks ON mails (section, weight DESC, day DESC)";
const ranked = "ORDER BY section, weight DESC, day DESC, mail";

/** The mails of a page, sorted by section, urgency and day and kept outside memory, with their numbers. */
export class MailList implements Disposable {
  /** Mails per pack: a page of the list opens one or two packs. */
  static readonly packSize = 500;
  readonly #database = new DatabaseSync("");
  readonly #insert;
  readonly #questions: Sections["questions"];
  /** How many mails each section has. */
  readonly counts: number[];
  length = 0;
  failed = 0;
  added = 0;
  /** For each question the number of mails by value. */
  readonly values: readonly Map<number, number>[];
  /** The days of the answered mails with a valid day, in milliseconds. */
  readonly days: number[] = [];
  /** For each question with levels the mean level of each of these mails, else an empty list. */
  readonly levels: readonly number[][];

  constructor({ sections, questions }: Pick<Sections, "sections" | "questions">) {
    this.counts = sections.map(() => 0);
    this.values = questions.map(() => new Map());
    this.levels = questions.map(() => []);
    this.#questions = questions;
    this.#database.exec(setup);
    this.#insert = this.#database.prepare(
      "INSERT INTO mails (section, weight, day, sender, row) VALUES (?, ?, ?, ?, ?)",
    );
  }

  add(row: MailRow, { section, weight }: ReturnType<Sections["rankOf"]>): void {
    const sender = (row.address || row.sender).toLowerCase();
    this.#insert.run(section, weight, row.day, sender, JSON.stringify(row));
    this.counts[section] = (this.counts[section] ?? 0) + 1;
    this.length += 1;
    this.added += Number(row.isNew);
    if (row.answers === null) this.failed += 1;
    else this.#count(row.answers, Date.parse(row.day));
  }

  #count(answers: NonNullable<MailRow["answers"]>, time: number): void {
    for (const [at, { value }] of answers.entries()) {
      addTo(this.values[at], value);
      const hasDot = this.#questions[at]?.form === "number" && !Number.isNaN(time);
      if (hasDot) this.levels[at]?.push(value);
    }
    if (!Number.isNaN(time)) this.days.push(time);
  }

  /** Returns the first mails of a section. */
  first(section: number, limit: number): MailRow[] {
    this.#database.exec(inOrder);
    const sql = `SELECT row FROM mails WHERE section = ? ${ranked} LIMIT ?`;
    return this.#database
      .prepare(sql)
      .all(section, limit)
      .map(({ row }) => JSON.parse(String(row)) as MailRow);
  }

  /** Returns the senders with the most mails. */
  senders(limit: number): [sender: string, mails: number][] {
    const sql =
      "SELECT sender, count(*) AS mails FROM mails GROUP BY sender ORDER BY mails DESC, min(mail) LIMIT ?";
    const rows = this.#database.prepare(sql).all(limit);
    return rows.map(({ sender, mails }) => [String(sender), Number(mails)]);
  }

  /** Returns all mails in packs: JSON arrays, deflated, as base64. */
  *packs(): Generator<string> {
    let rows: unknown[] = [];
    // With "+" SQLite sorts whole rows, which is faster than a lookup of each row by the index.
    const sql = `SELECT row FROM mails ${ranked.replace("section", "+section")}`;
    for (const { row } of this.#database.prepare(sql).iterate()) {
      if (rows.push(row) < MailList.packSize) continue;
      yield toPack(rows);
      rows = [];
    }
    if (rows.length > 0) yield toPack(rows);
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

function toPack(rows: readonly unknown[]): string {
  // Level 1 takes a third of the time of level 6 for a page that is a third larger.
  return deflateRawSync(`[${rows.join()}]`, { level: 1 }).toString("base64");
}

/** Adds to the count of a key. */
export function addTo<TKey>(counts: Map<TKey, number> | undefined, key: TKey, count = 1): void {
  counts?.set(key, (counts.get(key) ?? 0) + count);
}
