import { CliError, printable } from "evaluator-kit";
import type { JsonObject, JsonValue, Questions } from "evaluator-client";
import type { Service } from "../service.ts";
import {
  fromKeptText,
  isAsWritten,
  isKeyOf,
  KeptAnswers,
  type KeptEvaluation,
  readKeptText,
  setupHash,
} from "./kept-answer.ts";
import {
  type BegunRun,
  type RunBegin,
  runBeginSchema,
  type RunFacts,
  runFactsSchema,
} from "./run-facts.ts";

/** All that a journal knows of one mail. */
export interface JournalEntry {
  readonly id: string;
  readonly state: JsonValue;
  readonly questions: Questions;
  readonly service: Service;
  /** Null when the answer is not as it was written. */
  readonly evaluation: KeptEvaluation | null;
}

/** How the newest call about a mail ended. */
export interface MailEnd {
  /** What the model read; null without an answer. */
  readonly state: JsonValue;
  readonly evaluation: KeptEvaluation | null;
  readonly error: string | null;
  /** Whether the service refused the mail as too long, so that it is not asked again. */
  readonly isRefused: boolean;
}

/** A mail that the newest run had in its input, and how its newest call ended. */
export interface MailResult extends MailEnd {
  readonly id: string;
  readonly note: JsonObject | null;
}

/** The mails that no run before the last time had. */
export interface NewMails {
  readonly ids: ReadonlySet<string>;
  /** When the run before them had gone through, in ISO 8601. */
  readonly since: string;
}

/** How far the mails of a journal are. */
export interface JournalProgress {
  readonly mails: number;
  readonly answered: number;
  /** Mails whose newest call failed. */
  readonly failed: number;
  /** Those of them that are not asked about again. */
  readonly refused: number;
  /** Calls that were sent, and whose end is not known. */
  readonly begun: number;
  /** Of all answers that say what they cost, in US dollars; null when none says it. */
  readonly costUsd: number | null;
}

/** An answer that is there as it was written. */
export type AnsweredEntry = JournalEntry & { readonly evaluation: KeptEvaluation };

const statements = {
  mail: "SELECT key, error FROM mails JOIN calls USING (call) WHERE id = ?",
  answer:
    "SELECT key, state, evaluation, digest, wire, model, questions " +
    "FROM calls JOIN answers USING (call) JOIN setups USING (setup) WHERE key = ?",
  end:
    "SELECT key, state, evaluation, digest, mails.error, refusals.call AS refused " +
    "FROM mails JOIN calls USING (call) LEFT JOIN answers USING (call) " +
    "LEFT JOIN refusals USING (call) WHERE id = ?",
  // In the order of the answers in the file: a million mails in order of id would be read here and there.
  results:
    "WITH seen AS MATERIALIZED (SELECT call, id, error, source FROM mails " +
    "WHERE seen = (SELECT max(seen) FROM mails) ORDER BY call) " +
    "SELECT id, seen.error, source, key, state, evaluation, digest, hash, refusals.call AS refused " +
    "FROM seen JOIN calls USING (call) LEFT JOIN answers USING (call) " +
    "LEFT JOIN setups USING (setup) LEFT JOIN refusals USING (call)",
  newIds:
    "SELECT id FROM mails WHERE after = (SELECT max(after) FROM mails) " +
    "AND seen = (SELECT max(seen) FROM mails)",
  newSince:
    "SELECT facts ->> 'finishedAt' AS since FROM runs WHERE run = (SELECT max(after) FROM mails)",
  setup: "SELECT wire, model, questions FROM setups WHERE hash = ?",
  newestSetup: "SELECT wire, model, questions FROM setups ORDER BY setup DESC LIMIT 1",
  newestRuns: "SELECT facts FROM runs ORDER BY run DESC",
  progress:
    "SELECT (SELECT count(*) FROM mails) AS mails, (SELECT count(*) FROM begun) AS begun, " +
    "(SELECT count(*) FROM mails WHERE error IS NOT NULL) AS failed, " +
    "(SELECT count(*) FROM mails JOIN refusals USING (call)) AS refused, " +
    "(SELECT count(*) FROM mails JOIN answers USING (call)) AS answered, " +
    "(SELECT sum(evaluation ->> 'costUsd') FROM answers) AS costUsd",
  runs: "SELECT facts FROM runs ORDER BY run",
  answered:
    "SELECT id, key, state, evaluation, digest, wire, model, questions FROM mails " +
    "JOIN calls USING (call) JOIN answers USING (call) JOIN setups USING (setup)",
};

/** Reads what runs have left in a journal; its methods throw a CliError when that is damaged. */
export class JournalReader extends KeptAnswers {
  /** Returns how the newest call about a mail ended: its answer as it was written, or an error. */
  endOf(id: string, questions: Questions): MailEnd {
    const [row = {}] = this.all(statements.end, id);
    return toEnd(row, questions);
  }

  /** Returns one by one the mails of the newest run, in no order, and how their newest calls ended. */
  *results({ questions, service }: Pick<BegunRun, "questions" | "service">): Generator<MailResult> {
    const setup = setupHash({ questions, service });
    for (const row of this.iterate(statements.results)) {
      const { id, source, hash } = row;
      yield {
        ...toEnd(row, questions, hash === setup),
        id: String(id),
        note: source === null ? null : (JSON.parse(String(source)) as JsonObject),
      };
    }
  }

  /** Returns the mails that came last, after a run had gone through; null when there are none. */
  newMails(): NewMails | null {
    const [row] = this.all(statements.newSince);
    const ids = new Set<string>();
    for (const { id } of this.iterate(statements.newIds)) ids.add(String(id));
    return row === undefined || ids.size === 0 ? null : { ids, since: String(row["since"]) };
  }

  /** Returns the run that was begun last, also one that did not go through; null when none was. */
  newestRun(): BegunRun | null {
    const begin = this.#newestBegin();
    const [row] =
      begin === null ? this.all(statements.newestSetup) : this.all(statements.setup, begin.setup);
    if (row === undefined) return null;
    return {
      questions: JSON.parse(String(row["questions"])) as Questions,
      service: serviceIn(row),
      begin,
    };
  }

  #newestBegin(): RunBegin | null {
    for (const { facts } of this.iterate(statements.newestRuns)) {
      const begin = runBeginSchema.safeParse(JSON.parse(String(facts)));
      if (begin.success) return begin.data;
    }
    return null;
  }

  /** Returns how far the mails of the journal are. */
  progress(): JournalProgress {
    const [row = {}] = this.all(statements.progress);
    const count = (name: string) => Number(row[name] ?? 0);
    return {
      mails: count("mails"),
      answered: count("answered"),
      failed: count("failed"),
      refused: count("refused"),
      begun: count("begun"),
      costUsd: row["costUsd"] == null ? null : count("costUsd"),
    };
  }

  /** Returns what is known of a mail. @throws CliError when that is nothing. */
  find(id: string): JournalEntry {
    const [mail] = this.all(statements.mail, id);
    if (mail === undefined) {
      throw new CliError(printable`${this.path} knows no mail with this id.`);
    }
    const [answer] = this.all(statements.answer, String(mail["key"]));
    if (answer !== undefined) return toEntry(id, answer);
    const why = typeof mail["error"] === "string" ? mail["error"] : "None has come yet.";
    throw new CliError(printable`There is no answer about this mail. ${why}`);
  }

  /** Returns one by one all mails that are answered, each with its newest answer. */
  *answered(): Generator<AnsweredEntry> {
    for (const row of this.iterate(statements.answered)) {
      const entry = toEntry(String(row["id"]), row);
      if (isAnswered(entry)) yield entry;
    }
  }

  /** Returns what all runs came to, the oldest first. */
  runs(): RunFacts[] {
    const rows = this.all(statements.runs).map(({ facts }) => JSON.parse(String(facts)) as unknown);
    return rows.flatMap((facts) => runFactsSchema.safeParse(facts).data ?? []);
  }
}

// Who answered just these questions was checked before it was kept.
function toEnd(row: Record<string, unknown>, questions: Questions, isChecked = false): MailEnd {
  const { state, evaluation: text } = row;
  if (typeof text === "string" && isAsWritten(row)) {
    const evaluation = isChecked ? readKeptText(text) : fromKeptText(text, questions);
    const read = JSON.parse(String(state)) as JsonValue;
    return { state: read, evaluation, error: null, isRefused: false };
  }
  const error = typeof row["error"] === "string" ? row["error"] : null;
  return { state: null, evaluation: null, error, isRefused: row["refused"] != null };
}

function serviceIn(row: Record<string, unknown>): Service {
  return { address: String(row["wire"]), modelId: String(row["model"]) };
}

function toEntry(id: string, row: Record<string, unknown>): JournalEntry {
  const [key, state] = [String(row["key"]), String(row["state"])];
  const questions = JSON.parse(String(row["questions"])) as Questions;
  const service = serviceIn(row);
  const isWhole = isAsWritten(row) && isKeyOf(key, setupHash({ questions, service }), state);
  return {
    id,
    questions,
    service,
    state: JSON.parse(state) as JsonValue,
    evaluation: isWhole ? fromKeptText(String(row["evaluation"]), questions) : null,
  };
}

function isAnswered(entry: JournalEntry): entry is AnsweredEntry {
  return entry.evaluation !== null;
}
