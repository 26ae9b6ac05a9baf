import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import {
  type AnswerTable,
  type AskedQuestions,
  CalibrationInputError,
  type KeptAnswers,
} from "evaluator-calibration";
import type { Questions } from "evaluator-client";
import { CliError, printable, toFileError } from "evaluator-kit";

// The mark of a triage journal, and the versions with these tables.
const APPLICATION_ID = 0x54524947;
const JOURNAL_VERSIONS: readonly unknown[] = [3, 4];

const allMails = `
SELECT mails.id, answers.evaluation, answers.state, setups.setup, setups.wire, setups.questions
FROM mails LEFT JOIN answers USING (call) LEFT JOIN setups USING (setup)`;
const oneState = "SELECT state FROM mails JOIN answers USING (call) WHERE id = ?";

/** Returns whether a file is a SQLite database. @throws CliError if it cannot be read. */
export async function isDatabase(path: string): Promise<boolean> {
  try {
    await using file = await open(path, "r");
    const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0);
    return bytesRead === 16 && buffer.toString("latin1") === "SQLite format 3\u0000";
  } catch (error) {
    throw toFileError(error, `read ${path}`, "Check its name and rights.");
  }
}

/** Reads every answer of a triage journal, also during a run; changes nothing in it. */
export function readJournal(name: string, path: string, table: AnswerTable): void {
  const asked = new Map<unknown, AskedQuestions>();
  withJournal(name, path, (database) => {
    for (const row of database.prepare(allMails).iterate()) {
      const id = String(row["id"]);
      if (row["evaluation"] === null) {
        table.addFailed(id);
        continue;
      }
      let questions = asked.get(row["setup"]);
      if (questions === undefined) {
        questions = JSON.parse(String(row["questions"])) as AskedQuestions;
        asked.set(row["setup"], questions);
      }
      const evaluation = JSON.parse(String(row["evaluation"])) as KeptAnswers["evaluation"];
      const state: unknown = JSON.parse(String(row["state"]));
      if (typeof state === "object" && state !== null) {
        table.noteDate("date" in state ? state.date : null);
        table.noteCluster(id, state);
      }
      const kept = { id, questions, wire: String(row["wire"]), evaluation };
      table.addEvaluation(kept, { file: name });
    }
  });
}

/** Returns the states of some mails as one line of text each. */
export function readTexts(
  name: string,
  path: string,
  ids: readonly string[],
): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  withJournal(name, path, (database) => {
    const statement = database.prepare(oneState);
    for (const id of ids) {
      const row = statement.get(id);
      if (row !== undefined) texts.set(id, describeState(JSON.parse(String(row["state"]))));
    }
  });
  return texts;
}

const allStates = `
SELECT mails.id, answers.state, setups.questions
FROM mails JOIN answers USING (call) JOIN setups USING (setup)`;

/** Returns the states and questions of a journal. @throws CliError if the questions changed. */
export function readStates(
  name: string,
  path: string,
): { states: Map<string, string | object>; questions: Questions } {
  const states = new Map<string, string | object>();
  const wordings = new Set<string>();
  withJournal(name, path, (database) => {
    for (const row of database.prepare(allStates).iterate()) {
      states.set(String(row["id"]), JSON.parse(String(row["state"])) as string | object);
      wordings.add(String(row["questions"]));
    }
  });
  const [wording = "{}", another] = wordings;
  if (another === undefined) return { states, questions: JSON.parse(wording) as Questions };
  const problem = printable`${name} holds answers to ${String(wordings.size)} wordings of the questions.`;
  throw new CliError(`${problem} Run the triage again, so that all mails have the same.`);
}

/** Returns the texts of a state in one line. */
export function describeState(state: unknown): string {
  if (typeof state !== "object" || state === null) return String(state);
  return Object.values(state)
    .filter((part) => typeof part === "string")
    .join(" · ");
}

function withJournal(name: string, path: string, read: (database: DatabaseSync) => void): void {
  const url = pathToFileURL(path);
  // Without a log no run writes, and SQLite would create one to read.
  if (!existsSync(`${path}-wal`)) url.searchParams.set("immutable", "1");
  try {
    using database = new DatabaseSync(url, { readOnly: true, timeout: 5000 });
    checkJournal(name, database);
    read(database);
  } catch (error) {
    if (error instanceof CliError || error instanceof CalibrationInputError) throw error;
    const isDamaged =
      error instanceof SyntaxError || (error instanceof Error && "errcode" in error);
    if (!isDamaged) throw error;
    const problem = printable`${name} cannot be read as a journal: it is damaged, or in use.`;
    throw new CliError(`${problem} Wait for the run's end, or restore the file.`, { cause: error });
  }
}

function checkJournal(name: string, database: DatabaseSync): void {
  const pragma = (key: string) => Object.values(database.prepare(`PRAGMA ${key}`).get() ?? {})[0];
  if (pragma("application_id") !== APPLICATION_ID) {
    const advice = "Give a .triage.sqlite, a result file, a decision log, or lines of JSON.";
    throw new CliError(printable`${name} is a database, but no triage journal. ${advice}`);
  }
  const version = pragma("user_version");
  if (JOURNAL_VERSIONS.includes(version)) return;
  const known = JOURNAL_VERSIONS.join(" or ");
  const problem = printable`The journal ${name} is of version ${String(version)}, not ${known}.`;
  throw new CliError(`${problem} Use the release of this program that goes with it.`);
}
