import { DatabaseSync } from "node:sqlite";
import { deflateRawSync } from "node:zlib";
import { type ListedRow, type MailRow, computePick } from "./mail-row.ts";
import type { Sections } from "./sections.ts";
import { joinThreads } from "./threads.ts";

// SQLite keeps a database without a name in memory, and above 2 MB in a nameless temporary file.
const setup = `PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
CREATE TABLE mails (mail INTEGER PRIMARY KEY, id TEXT, section INT, weight REAL, day TEXT, time TEXT,
  sender TEXT, isOwn INT, isHidden INT, unsubscribe TEXT, oneClick INT, score REAL, picks TEXT, row TEXT);
CREATE TABLE keys (key INT, mail INT);
BEGIN`;
const insertion = "INSERT INTO mails VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
const order = "section, weight DESC, day DESC, mail";
// Without the long rows, which are read once. The first mail of a thread is its highest one.
const listing = `CREATE TABLE list AS SELECT *,
  row_number() OVER (threads ORDER BY ${order}) AS place, count(*) OVER threads AS mails,
  CASE WHEN NOT max(isOwn) OVER threads THEN '' WHEN max(time || isOwn) OVER threads LIKE '%1' THEN 'them'
    ELSE 'you' END AS waiting, min(isHidden) OVER threads AS isAway,
  NOT isOwn AND mail = first_value(mail) OVER (PARTITION BY sender ORDER BY time, mail) AS isFirst
  FROM (SELECT mail, id, section, weight, day, time, sender, isOwn, isHidden, unsubscribe, oneClick, score, picks,
    rootOf(mail) AS thread FROM mails) WINDOW threads AS (PARTITION BY thread);
CREATE TABLE away AS SELECT * FROM list WHERE isAway;
DELETE FROM list WHERE isAway;
CREATE INDEX ranks ON list (${order})`;
const toShownValue = (
  table: "list" | "away",
) => `SELECT row || printf(',"thread":%d,"place":%d,"mails":%d,"waiting":"%s","isFirst":%d}',
  thread, place, mails, waiting, isFirst) AS shown FROM ${table} JOIN (SELECT mail, row FROM mails) USING (mail)`;

/** The properties of a mail that its row does not show; `isHidden` is 1 if the mail is done or snoozed. */
export type ListEntry = Readonly<
  Record<"id" | "time" | "unsubscribe", string> &
    Record<"section" | "weight" | "isOwn" | "isHidden" | "oneClick", number> & {
      keys: readonly number[];
    }
>;

/** The mails of a page, sorted by section, urgency and day and kept outside memory, with their numbers. */
export class MailList implements Disposable {
  /** Mails per pack: a page of the list opens one or two packs. */
  static readonly packSize = 500;
  readonly #database = new DatabaseSync("");
  readonly #insert;
  readonly #addKey;
  readonly #questions: Sections["questions"];
  readonly #score: number;
  /** How many mails and threads each section has. */
  readonly counts: { mails: number; threads: number }[];
  /** For each question and each pick the number of threads, `3:0`. */
  readonly picks = new Map<string, number>();
  length = 0;
  /** Mails that are done or snoozed. */
  hidden = 0;
  added = 0;
  /** For each question the number of mails by value. */
  readonly values: readonly Map<number, number>[];
  /** The days of the answered mails with a valid day, in milliseconds. */
  readonly days: number[] = [];
  /** For each question with levels the mean level of each of these mails, else an empty list. */
  readonly levels: readonly number[][];

  constructor({ sections, questions, score }: Pick<Sections, "sections" | "questions" | "score">) {
    this.counts = sections.map(() => ({ mails: 0, threads: 0 }));
    this.values = questions.map(() => new Map());
    this.levels = questions.map(() => []);
    this.#questions = questions;
    this.#score = score;
    this.#database.exec(setup);
    this.#insert = this.#database.prepare(insertion);
    this.#addKey = this.#database.prepare("INSERT INTO keys VALUES (?, ?)");
  }

  add(row: MailRow, entry: ListEntry): void {
    const { answers, day } = row;
    const sender = (row.address || row.sender).toLowerCase();
    const score = answers?.[this.#score]?.value ?? null;
    const picks = this.#questions.map((question, at) => {
      return `${at}:${answers === null ? "" : computePick(question, answers[at]?.value ?? 0)}`;
    });
    const { id, section, weight, time, isOwn, isHidden, keys, unsubscribe, oneClick } = entry;
    // Without its end, which is known later.
    const start = JSON.stringify(row).slice(0, -1);
    this.length += 1;
    const head = [this.length, id, section, weight, day, time, sender, isOwn, isHidden] as const;
    this.#insert.run(...head, unsubscribe, oneClick, score, JSON.stringify(picks), start);
    for (const key of keys) this.#addKey.run(key, this.length);
    this.added += Number(row.isNew);
    if (row.answers !== null) this.#count(row.answers, Date.parse(row.day));
  }

  #count(answers: NonNullable<MailRow["answers"]>, time: number): void {
    for (const [at, { value }] of answers.entries()) {
      const counts = this.values[at];
      counts?.set(value, (counts.get(value) ?? 0) + 1);
      const hasDot = this.#questions[at]?.form === "number" && !Number.isNaN(time);
      if (hasDot) this.levels[at]?.push(value);
    }
    if (!Number.isNaN(time)) this.days.push(time);
  }

  /** Joins the added mails to threads, leaves out the hidden ones, and counts the rest. */
  close(): void {
    const keys = this.#database.prepare("SELECT key, mail FROM keys ORDER BY key").iterate();
    const rootOf = joinThreads(keys as Iterable<unknown> as Parameters<typeof joinThreads>[0]);
    this.#database.function("rootOf", (mail) => rootOf(Number(mail)));
    this.#database.exec(listing);
    const sections =
      "SELECT section, count(*) AS mails, sum(place = 1) AS threads FROM list GROUP BY 1";
    for (const { section, mails, threads } of this.#database.prepare(sections).iterate()) {
      this.counts[Number(section)] = { mails: Number(mails), threads: Number(threads) };
    }
    this.hidden = this.length - this.counts.reduce((sum, { mails }) => sum + mails, 0);
    const picks =
      "SELECT value, count(DISTINCT thread) AS n FROM list, json_each(picks) GROUP BY 1";
    for (const { value, n } of this.#database.prepare(picks).iterate()) {
      this.picks.set(String(value), Number(n));
    }
  }

  /** Returns the highest mails of the first threads of a section. */
  first(section: number, limit: number): ListedRow[] {
    const sql = `${toShownValue("list")} WHERE section = ? AND place = 1 ORDER BY ${order} LIMIT ?`;
    return toListed(this.#database.prepare(sql).all(section, limit));
  }

  /** Returns the highest mails of the newest threads that are done or snoozed. */
  away(limit: number): ListedRow[] {
    const sql = `${toShownValue("away")} WHERE place = 1 ORDER BY day DESC, mail LIMIT ?`;
    return toListed(this.#database.prepare(sql).all(limit));
  }

  /** Returns the senders with the most mails, each with the link of its newest mail that has one. */
  senders(limit: number) {
    const sql = `SELECT sender, count(*) AS mails, iif(avg(score) IS NULL, '', printf('%.1f', avg(score))) AS mean, unsubscribe, oneClick,
      max(CASE unsubscribe WHEN '' THEN '' ELSE time END)
      FROM list GROUP BY sender ORDER BY mails DESC, sender LIMIT ?`;
    const rows = this.#database.prepare(sql).all(limit);
    return rows as unknown as (Record<"sender" | "mean" | "unsubscribe", string> &
      Record<"mails" | "oneClick", number>)[];
  }

  /**
   * Returns for each printed id its mail and all mails of its thread, also if they are done or snoozed; and by
   * `section:INDEX` and `sender:ADDRESS` the mails of all listed threads whose highest mail is in it or from it.
   */
  threads() {
    const sql = `SELECT id, section, sender, thread, isAway, (row || '}') ->> 'id' AS printed
      FROM (SELECT * FROM list UNION ALL SELECT * FROM away)
      JOIN (SELECT mail, row FROM mails) USING (mail) ORDER BY thread, place`;
    const threads = new Map<string, { readonly id: string; readonly ids: readonly string[] }>();
    const groups = new Map<string, string[]>();
    const all = Map.groupBy(this.#database.prepare(sql).all(), ({ thread }) => thread);
    for (const mails of all.values()) {
      const ids = mails.map(({ id }) => String(id));
      for (const { id, printed: printedValue } of mails)
        threads.set(String(printedValue), { id: String(id), ids });
      const [{ section, sender, isAway } = {}] = mails;
      for (const group of isAway === 1
        ? []
        : [`section:${String(section)}`, `sender:${String(sender)}`]) {
        const others = groups.get(group);
        if (others === undefined) groups.set(group, [...ids]);
        else others.push(...ids);
      }
    }
    return { threads, groups };
  }

  /** Returns all mails in packs: JSON arrays, deflated, as base64. */
  *packs(): Generator<string> {
    let rows: unknown[] = [];
    // With "+" SQLite sorts whole rows, which is faster than a lookup of each row by the index.
    const sql = `${toShownValue("list")} ORDER BY +${order}`;
    for (const { shown: shownValue } of this.#database.prepare(sql).iterate()) {
      if (rows.push(shownValue) < MailList.packSize) continue;
      yield toPack(rows);
      rows = [];
    }
    if (rows.length > 0) yield toPack(rows);
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

function toListed(rows: readonly Record<string, unknown>[]): ListedRow[] {
  return rows.map(({ shown: shownValue }) => JSON.parse(String(shownValue)) as ListedRow);
}

function toPack(rows: readonly unknown[]): string {
  // Level 1 takes a third of the time of level 6 for a page that is a third larger.
  return deflateRawSync(`[${rows.join()}]`, { level: 1 }).toString("base64");
}
