import { existsSync, readdirSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import {
  type CliContext,
  CliError,
  describeSystemError,
  isDatabaseUrl,
  printable,
  toFileError,
  UsageError,
  withRest,
} from "evaluator-kit";
import type { RecordSource } from "./input/record-source.ts";
import type { JournalReader } from "./sqlite/journal-reader.ts";
import { besideInput, toInputPath, toJournalPath } from "./output/paths.ts";

/** The place of a journal: a SQLite file, with its input if that was typed, or a PostgreSQL database. */
export type JournalAddress =
  | { readonly kind: "sqlite"; readonly path: string; readonly input?: string | undefined }
  | { readonly kind: "postgres"; readonly url: string };

type SourceNames = Pick<RecordSource, "suffix" | "journalVariable">;

type AddressContext = Pick<CliContext, "cwd" | "env"> & { readonly source: SourceNames };

/** A command about a journal that is there. */
interface JournalCommand {
  readonly journal?: string | undefined;
  /** The input; a database has the runs about its name. */
  readonly file?: string | undefined;
}

function journalEnd({ suffix }: SourceNames): string {
  return `.${suffix}.sqlite`;
}

// As typed, else as the variable specifies, else beside the input; null without these.
function findJournalAddress(
  { journal, file }: JournalCommand,
  { cwd, env, source }: AddressContext,
): JournalAddress | null {
  const location = journal ?? env[source.journalVariable];
  if (location !== undefined && isDatabaseUrl(location)) return { kind: "postgres", url: location };
  const typedPath = file === undefined ? null : toInputPath(file, cwd);
  const beside = typedPath === null ? null : toJournalPath(typedPath, source);
  const input = typedPath === null || typedPath === beside ? undefined : typedPath;
  if (location === undefined)
    return beside === null ? null : { kind: "sqlite", path: beside, input };
  const path = toJournalPath(resolve(cwd, location), source);
  const from = journal === undefined ? source.journalVariable : "--journal";
  const end = journalEnd(source);
  if (!location.endsWith(end) && !hasInputEnd(location)) {
    throw new UsageError(
      printable`${from} takes a postgres:// URL or a file that ends in ${end}, such as inbox${end}.`,
    );
  }
  if (beside !== null && beside !== path) {
    throw new UsageError(
      printable`A run of a file keeps its journal beside the file, and ${from} names ${path}; leave ${from} out.`,
    );
  }
  return { kind: "sqlite", path, input };
}

/** Returns the journal of a command: the one that it names, else the only one in the folder. */
export async function toJournalAddress(
  command: JournalCommand,
  context: AddressContext,
): Promise<JournalAddress> {
  const address = findJournalAddress(command, context);
  return address ?? { kind: "sqlite", path: await onlyJournal(context) };
}

/** Returns the journal of a command about a run. @throws CliError if the typed file and its journal are missing. */
export async function needJournalAddress(
  command: JournalCommand,
  context: AddressContext,
): Promise<JournalAddress> {
  const address = await toJournalAddress(command, context);
  if (address.kind === "sqlite") checkInput(address, command.file);
  return address;
}

function checkInput({ path, input }: { path: string; input?: string | undefined }, file = "-") {
  if (file === "-" || input === undefined || existsSync(input) || existsSync(path)) return;
  throw new CliError(printable`Cannot read ${input}: no such file or directory. Check the path.`);
}

const NAMES_SHOWN = 10;

async function onlyJournal({ cwd: folder, source }: AddressContext): Promise<string> {
  const next = `Name FILE, --journal or ${source.journalVariable}.`;
  const all = await readdir(folder).catch((error: unknown) => {
    throw toFileError(error, `read ${folder}`);
  });
  const names = all.filter((name) => name.endsWith(journalEnd(source)));
  const [name, ...others] = names;
  if (name !== undefined && others.length === 0) return join(folder, name);
  const shownNames = printable`: ${withRest(names.toSorted(), NAMES_SHOWN).join(", ")}`;
  const found =
    names.length === 0
      ? "This folder has no journal"
      : `This folder has ${names.length} journals${shownNames}`;
  throw new UsageError(`${found}. ${next}`);
}

/** Returns the input file that a journal file stands beside: the one typed, the one of its newest run, else one of its name. */
export function inputOf(
  { path, input }: { readonly path: string; readonly input?: string | undefined },
  source: SourceNames,
  begunInput?: unknown,
): string {
  if (input !== undefined) return input;
  const [folder, stem] = [dirname(path), basename(path).slice(0, -journalEnd(source).length)];
  const beside = listNames(folder).filter((name) => besideInput(name, "") === stem);
  // A folder may have the name alone.
  const isBegun = beside.includes(begunInput as string);
  const name = isBegun
    ? (begunInput as string)
    : (beside.toSorted().find(hasInputEnd) ?? beside[0]);
  return join(folder, name ?? `${stem}.json`);
}

/** Returns the names in a folder; none if it cannot be read, since opening the journal then says why. */
function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (describeSystemError(error) === null) throw error;
    return [];
  }
}

/** Writes a line if the journal also has records of another input, such as `a.csv` beside `a.json`. */
export function warnOfShared(
  journal: JournalReader,
  context: Pick<CliContext, "stderr"> & Readonly<Record<"inputPath" | "journalPath", string>>,
): void {
  const input = basename(context.inputPath);
  const other = journal.newestRun()?.begin?.options["input"];
  if (typeof other !== "string" || other === input) return;
  const file = basename(context.journalPath);
  context.stderr.write(
    printable`${file} also has the records of ${other}, whose results ${input} replaces; rename one to keep both.` +
      "\n",
  );
}

function hasInputEnd(name: string): boolean {
  return besideInput(name, "") !== name;
}
