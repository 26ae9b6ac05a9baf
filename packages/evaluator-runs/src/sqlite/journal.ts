import type { Evaluation, JsonValue } from "evaluator-client";
import { journalMachine, type Machine } from "../machine.ts";
import { JournalReader } from "./journal-reader.ts";
import type { RunBegin, RunFacts } from "../run-facts.ts";
import { type CallSetup, toDigest, setupHash, toKeptText } from "../journal/kept-answer.ts";
import { openForWriting, toJournalError } from "./open-journal.ts";

/** A record of a run's input, and the key of its answer. */
interface NotedRecord {
  readonly id: string;
  readonly key: string;
  /** The source of the record as JSON. */
  readonly note?: string | null;
}

/** How the call about a record ended: with an answer about its state, or with an error. */
type CallEnd = Pick<NotedRecord, "id" | "key"> & {
  /** What the call has cost or may have, in US dollars, with its lost attempts. @default 0 */
  readonly spentUsd?: number;
  /** Whether the call is as one that was not made, but for its cost. @default false */
  readonly isUnasked?: boolean;
} & (
    | { readonly state: JsonValue; readonly evaluation: Evaluation }
    | { readonly error: string; readonly isRefusal?: boolean }
  );

/** A call that begins. */
interface BegunCall extends Pick<NotedRecord, "key"> {
  /** What an earlier try may have spent on it that did not end it, in US dollars. @default 0 */
  readonly earlierUsd?: number;
}

interface WaitingChange extends PromiseWithResolvers<void> {
  readonly change: () => void;
  readonly spentUsd: number;
}

/**
 * Keeps every answer on the disk before anything else happens with it, for one run at a time. All
 * methods throw a CliError when the disk or the file fails.
 *
 * This thread waits for the disk. A separate thread made 4 and 10 % more calls at 20 ms with 8 and 64
 * in flight, and 3 % fewer with one; on a disk that takes 5 ms to sync, a third and more than a half
 * fewer (2026-11-21, two cores, medians of five and three rounds).
 */
export class Journal extends JournalReader {
  /** The questions of this run, and the service it asks. */
  readonly setup: CallSetup;
  readonly #setupHash: string;
  readonly #unlock: () => void;
  readonly #defer: NonNullable<Machine["defer"]>;
  #waiting: WaitingChange[] = [];
  /** The row of `runs` with the cost of this run so far. */
  #spending: { readonly run: number | bigint; readonly usd: number } | null = null;
  /** The number that the records of this run were seen in. */
  #seen: number | null = null;

  private constructor(journalPath: string, callSetup: CallSetup, machine: Machine) {
    const { database, unlock } = openForWriting(journalPath, machine);
    super(journalPath, database);
    this.setup = callSetup;
    this.#setupHash = setupHash(callSetup);
    this.#unlock = unlock;
    this.#defer = journalMachine(machine).defer;
  }

  /** Opens a journal for a run with this setup, and creates the file if it is missing. */
  static open(journalPath: string, callSetup: CallSetup, machine: Machine = {}): Journal {
    return new Journal(journalPath, callSetup, machine);
  }

  /** Notes in one step the records of the input and the keys of their answers; for the options see `RunCommand`. */
  noteRecords(
    entries: Iterable<NotedRecord>,
    runOptions: { newSince?: string | null; part?: unknown; asked?: ReadonlySet<string> } = {},
  ): void {
    const { newSince = null, part, asked: askedIds } = runOptions;
    this.#changeRows(() => {
      // The run that notes a record will be the next row of `runs`.
      const { seen, after, before } = this.prepare(
        `SELECT coalesce(iif(?, (SELECT max(seen) FROM records), NULL), max(run) + 1, 1) AS seen,
          coalesce(min(run) FILTER (WHERE facts ->> 'finishedAt' >= ?),
            max(run) FILTER (WHERE facts ->> 'finishedAt' IS NOT NULL)) AS after,
          (SELECT facts ->> 'seen' FROM runs WHERE facts ->> 'finishedAt' IS NOT NULL
            ORDER BY run DESC LIMIT 1) AS before FROM runs`,
      ).get(Number(part !== undefined), newSince) as Record<"seen" | "after" | "before", number>;
      const addCall = this.prepare("INSERT OR IGNORE INTO calls (key) VALUES (?)");
      // It is the same record as in the run before, if that had it, with the same call and end.
      const noteRecord = this.prepare(
        `INSERT INTO records (id, call, error, seen, after, source, since)
          SELECT $id, call, (SELECT error FROM refusals WHERE refusals.call = calls.call AND NOT EXISTS
            (SELECT 1 FROM answers WHERE answers.call = calls.call)), $seen, $after, $note, $seen FROM calls
          WHERE key = $key ON CONFLICT (id) DO UPDATE SET
          since = iif(seen >= $before AND call = excluded.call AND source IS excluded.source
            AND ($isAsked OR error IS excluded.error), since, excluded.since), call = excluded.call,
          error = iif($isAsked, error, excluded.error), seen = excluded.seen, source = excluded.source`,
      );
      this.#addSetup();
      this.#seen = seen;
      for (const { id, key, note = null } of entries) {
        addCall.run(key);
        const isAsked = Number(askedIds?.has(id) ?? false);
        noteRecord.run({ id, seen, after, note, key, isAsked, before: before ?? 0 });
      }
    });
  }

  /** Notes a call that begins, and resolves when that is on the disk. See {@link Journal.end}. */
  async begin(begunCall: BegunCall): Promise<void> {
    await this.#changeWithOthers(() => this.#begin(begunCall));
  }

  // A call that is begun again may be charged for once more, however often its tries are killed.
  #begin({ key, earlierUsd = 0 }: BegunCall): void {
    this.prepare("INSERT OR IGNORE INTO begun SELECT call FROM calls WHERE key = ?").run(key);
    this.#addSpending(earlierUsd);
  }

  /**
   * Keeps how a call ended, and resolves when that is on the disk. Calls that begin and end in one turn of
   * the event loop share one step, and the wait for it.
   */
  async end(callEnd: CallEnd): Promise<void> {
    await this.#changeWithOthers(() => this.#keepEnd(callEnd), callEnd.spentUsd);
  }

  async #changeWithOthers(change: () => void, spentUsd = 0): Promise<void> {
    const waitingChange = { change, spentUsd, ...Promise.withResolvers<void>() };
    if (this.#waiting.push(waitingChange) === 1) this.#defer(() => this.#changeAll());
    await waitingChange.promise;
  }

  /** Notes how this run was begun, for an export or to go on with it. */
  beginRun(runBegin: Omit<RunBegin, "setup">): void {
    this.#changeRows(() => {
      this.#addSetup(); // also for a run without records
      this.#addFacts({ setup: this.#setupHash, ...runBegin });
    });
  }

  /** Adds the facts of a complete run. */
  addRun(runFacts: RunFacts): void {
    const nextRunSql = "SELECT coalesce(max(run) + 1, 1) AS number FROM runs";
    const seen = this.#seen ?? this.number(nextRunSql); // without records, none of an earlier run
    this.#changeRows(() => void this.#addFacts({ ...runFacts, spentFor: this.#setupHash, seen }));
    this.#spending = null;
    this.#seen = null;
  }

  /** The cost in US dollars of the tries with this setup since a run with it was complete. */
  get spentUsd(): number {
    return this.number(
      "SELECT total(facts ->> 'spentUsd') AS number FROM runs WHERE facts ->> 'spentFor' = ? AND run > ?",
      this.#setupHash,
      this.lastWholeRun,
    );
  }

  /** The number of the last complete run with this setup; 0 without one. */
  get lastWholeRun(): number {
    return this.number(
      `SELECT coalesce(max(run), 0) AS number FROM runs
        WHERE facts ->> 'spentFor' = ? AND facts ->> 'finishedAt' IS NOT NULL`,
      this.#setupHash,
    );
  }

  /** Keeps what an attempt may have cost whose call goes on. */
  addSpending(lostUsd: number): void {
    this.#changeRows(() => this.#addSpending(lostUsd));
  }

  // In the step of the answers, and in one row: a killed run has spent as much as one that ended.
  #addSpending(addedUsd: number): void {
    if (addedUsd === 0) return;
    const { run, usd: before } = this.#spending ?? { run: this.#addFacts({}), usd: 0 };
    this.#spending = { run, usd: before + addedUsd };
    const facts = { spentUsd: before + addedUsd, spentFor: this.#setupHash };
    this.prepare("UPDATE runs SET facts = ? WHERE run = ?").run(JSON.stringify(facts), run);
  }

  #addFacts(rowFacts: object): number | bigint {
    const insertFacts = this.prepare("INSERT INTO runs (facts) VALUES (?)");
    return insertFacts.run(JSON.stringify(rowFacts)).lastInsertRowid;
  }

  /** Closes and unlocks the file. */
  override [Symbol.dispose](): void {
    super[Symbol.dispose]();
    this.#unlock();
  }

  #addSetup(): void {
    const { service, questions } = this.setup;
    this.prepare(
      "INSERT OR IGNORE INTO setups (hash, wire, model, questions) VALUES (?, ?, ?, ?)",
    ).run(this.#setupHash, service.address, service.modelId, JSON.stringify(questions));
  }

  #changeAll(): void {
    const waitingChanges = this.#waiting;
    this.#waiting = [];
    try {
      this.#changeRows(() => {
        for (const { change } of waitingChanges) change();
        this.#addSpending(waitingChanges.reduce((sum, { spentUsd }) => sum + spentUsd, 0));
      });
      for (const { resolve } of waitingChanges) resolve();
    } catch (error) {
      for (const { reject } of waitingChanges) reject(error);
    }
  }

  #keepEnd(callEnd: CallEnd): void {
    const { id, key } = callEnd;
    if (callEnd.isUnasked) {
      // The record has no end, and the next run asks about it.
    } else if ("error" in callEnd) {
      // A failure takes the place of no answer.
      if (this.statusesOf([key])[0] !== "answered")
        this.prepare("UPDATE records SET error = ? WHERE id = ?").run(callEnd.error, id);
      const refuseSql = "INSERT OR REPLACE INTO refusals SELECT call, ? FROM calls WHERE key = ?";
      if (callEnd.isRefusal === true) this.prepare(refuseSql).run(callEnd.error, key);
    } else {
      const state = JSON.stringify(callEnd.state);
      const evaluation = toKeptText(callEnd.evaluation);
      const digest = toDigest({ key, state, evaluation });
      this.prepare(
        `INSERT OR REPLACE INTO answers
          SELECT call, (SELECT setup FROM setups WHERE hash = ?), ?, ?, ? FROM calls WHERE key = ?`,
      ).run(this.#setupHash, state, evaluation, digest, key);
      const unfailSql = "UPDATE records SET error = NULL WHERE id = ? AND error IS NOT NULL";
      this.prepare(unfailSql).run(id);
    }
    this.prepare("DELETE FROM begun WHERE call = (SELECT call FROM calls WHERE key = ?)").run(key);
  }

  #changeRows(changeRows: () => void): void {
    const earlierSpending = this.#spending;
    try {
      this.prepare("BEGIN IMMEDIATE").run();
      changeRows();
      this.prepare("COMMIT").run();
    } catch (error) {
      this.#spending = earlierSpending;
      if (this.database.isTransaction) this.database.exec("ROLLBACK");
      throw toJournalError(error, this.path);
    }
  }
}
