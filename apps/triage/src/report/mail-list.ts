import { DatabaseSync } from "node:sqlite";
import { deflateRawSync } from "node:zlib";
import {
  type MailRow,
  type PackedRow,
  type ShownQuestion,
  packRow,
  unpackRow,
} from "./mail-row.ts";
import type { MailRank, Sections } from "./sections.ts";

/** So many mails are packed together: a page of the list opens one or two packs. */
export const PACK_SIZE = 500;

// A database without a name is in memory, and from 2 MB on in a temporary file, which has no name either.
const setup = `PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
CREATE TABLE mails
  (mail INTEGER PRIMARY KEY, section INT, weight REAL, day TEXT, sender TEXT, row TEXT);
BEGIN`;
const inOrder = "CREATE INDEX IF NOT EXISTS ranks ON mails (section, weight DESC, day DESC)";
const ranked = "ORDER BY section, weight DESC, day DESC, mail";

/** The mails of a page, sorted by section, urgency and day; a million of them are not in memory. */
export class MailList implements Disposable {
  readonly #questions: readonly ShownQuestion[];
  readonly #database = new DatabaseSync("");
  readonly #insert;
  /** How many mails each section has. */
  readonly counts: number[];
  length = 0;

  constructor({ all, questions }: Pick<Sections, "all" | "questions">) {
    this.#questions = questions;
    this.counts = all.map(() => 0);
    this.#database.exec(setup);
    this.#insert = this.#database.prepare(
      "INSERT INTO mails (section, weight, day, sender, row) VALUES (?, ?, ?, ?, ?)",
    );
  }

  /** Adds a mail. */
  add(row: MailRow, { section, weight }: MailRank): void {
    const sender = (row.address || row.sender).toLowerCase();
    this.#insert.run(section, weight, row.day, sender, packRow(row));
    this.counts[section] = (this.counts[section] ?? 0) + 1;
    this.length += 1;
  }

  /** Returns the first mails of a section. */
  first(section: number, limit: number): MailRow[] {
    this.#database.exec(inOrder);
    const sql = `SELECT row FROM mails WHERE section = ? ${ranked} LIMIT ?`;
    return this.#database
      .prepare(sql)
      .all(section, limit)
      .map(({ row }) => unpackRow(JSON.parse(String(row)) as PackedRow, this.#questions));
  }

  /** Returns who sent the most mails, and how many. */
  senders(limit: number): [sender: string, mails: number][] {
    const sql =
      "SELECT sender, count(*) AS mails FROM mails GROUP BY sender ORDER BY mails DESC, min(mail) LIMIT ?";
    const rows = this.#database.prepare(sql).all(limit);
    return rows.map(({ sender, mails }) => [String(sender), Number(mails)]);
  }

  /** Returns all mails in packs: JSON arrays, deflated, as base64. */
  *packs(): Generator<string> {
    let rows: unknown[] = [];
    // By the "+" SQLite sorts whole rows, which takes less than looking up each in the table.
    const sql = `SELECT row FROM mails ${ranked.replace("section", "+section")}`;
    for (const { row } of this.#database.prepare(sql).iterate()) {
      if (rows.push(row) < PACK_SIZE) continue;
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
