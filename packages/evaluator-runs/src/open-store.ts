import { CliError, printable } from "evaluator-kit";
import { parseKeptQuestions } from "./journal/kept-questions.ts";
import { inputOf, type JournalAddress } from "./journal-address.ts";
import type { AnsweredEntry } from "./sqlite/journal-rows.ts";
import { putAway as putAwayInFile } from "./sqlite/open-journal.ts";
import { readJournal } from "./sqlite/read-journal.ts";
import { toInputName } from "./output/paths.ts";
import type { RunBegin } from "./run-facts.ts";
import { SqliteRuns } from "./sqlite/sqlite-runs.ts";
import type { ProgramContext } from "./service.ts";
import type { RunInfo, StoredRuns } from "./store/stored-runs.ts";
import { keptIn, serviceOfRun, withRuns } from "./workers/open-runs.ts";

interface ReadContext extends Pick<ProgramContext, "openRuns" | "clock" | "source" | "signal"> {
  /** See `readJournal`. @default true */
  readonly isChecked?: boolean;
}

/**
 * Opens the runs of a journal for reading, and closes them after use; calls `use` again if a run wrote into a
 * file meanwhile.
 *
 * @throws CliError if the journal cannot be used.
 */
export async function withStoredRuns<TResult>(
  address: JournalAddress,
  context: ReadContext,
  use: (runs: StoredRuns) => Promise<TResult>,
): Promise<TResult> {
  if (address.kind === "postgres") return await withRuns(address.url, context, use);
  const { source, signal, isChecked = true } = context;
  const path = inputOf(address, source);
  const open = (state?: RunBegin["options"]) =>
    source.open(inputOf(address, source, state?.["input"]), {
      skipInvalid: true,
      signal,
      state: state ?? {},
    });
  const input = { path, word: source.word, open };
  const read = (journal: ConstructorParameters<typeof SqliteRuns>[0]) =>
    use(new SqliteRuns(journal, input));
  return await readJournal(address.path, read, isChecked);
}

/** Reads the runs of a journal as they are at that moment. */
export type Look = <TResult>(read: (runs: StoredRuns) => Promise<TResult>) => Promise<TResult>;

/** Opens a journal to look at its runs again and again; see `withStoredRuns`. */
export async function withLooks<TResult>(
  address: JournalAddress,
  context: ReadContext,
  use: (look: Look) => Promise<TResult>,
): Promise<TResult> {
  if (address.kind === "postgres") {
    return await withRuns(address.url, context, (runs) => use((read) => read(runs)));
  }
  // Damage is looked for once; later damage is an error of SQLite.
  let isChecked = true;
  return await use(async (read) => {
    const opened = { ...context, isChecked };
    isChecked = false;
    return await withStoredRuns(address, opened, read);
  });
}

/** Puts records of an input away until a day, or takes them back with an empty text; also while a run is under way. */
export async function putAway(
  address: JournalAddress,
  context: ReadContext,
  choice: { readonly name: string; readonly ids: readonly string[]; readonly until: string },
): Promise<void> {
  const { name, ids, until } = choice;
  if (address.kind === "sqlite") putAwayInFile(address.path, ids, until);
  else await withRuns(address.url, context, (runs) => runs.putAway(name, ids, until));
}

/** The run that a command reads. */
interface WantedRun {
  readonly run?: number | undefined;
  readonly file?: string | undefined;
}

/** Returns the run of a command: the one that it names, else the newest about its file. @throws CliError without one */
export async function findRun(runs: StoredRuns, { run, file }: WantedRun): Promise<RunInfo> {
  if (run !== undefined) return await runs.get(run);
  const name = toInputName(file);
  const newest = (await runs.list(name)).at(-1);
  if (newest !== undefined) return newest;
  const about = name === undefined ? "" : printable` about ${name}`;
  throw new CliError(`This journal has no run${about}; start one first.`);
}

/** Returns the newest answer of each record: of one run, or of all runs of a file if no run is named. */
export async function* answeredIn(
  runs: StoredRuns,
  info: RunInfo,
  { run = null }: { readonly run?: number | null | undefined },
): AsyncGenerator<AnsweredEntry> {
  if (runs instanceof SqliteRuns) {
    yield* runs.answered(run);
    return;
  }
  const questions = parseKeptQuestions(info.setup.questions);
  const setup = { questions, service: serviceOfRun(info) };
  for await (const row of runs.rows(info.run)) {
    const evaluation = keptIn(row.evaluation, questions);
    if (evaluation === null) continue;
    yield {
      ...setup,
      id: row.id,
      state: JSON.parse(row.state) as AnsweredEntry["state"],
      evaluation,
    };
  }
}
