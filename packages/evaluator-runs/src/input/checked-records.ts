import { hash, randomBytes, randomUUID } from "node:crypto";
import { createReadStream, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { addAbortSignal, Readable } from "node:stream";
import {
  type CliContext,
  CliError,
  InterruptedError,
  printable,
  toFileError,
  toTemporaryFileError,
  withRest,
} from "evaluator-kit";
import { RepeatFinder } from "./digests.ts";
import { type JsonRecord, NoListError } from "./json-records.ts";
import { TableError } from "./read-table.ts";
import { changedInput, type InputOptions, recordLabel } from "./record-source.ts";

/** How the records of a kind of file are read and checked. */
export interface RecordForm<TRecord> {
  /** Returns the records of bytes, those of one piece at a time. */
  split(chunks: AsyncIterable<Buffer>): AsyncIterable<Iterable<JsonRecord>>;
  check(value: unknown, inexact?: readonly (readonly (string | number)[])[]): CheckedValue<TRecord>;
  /** Returns the problem of a file whose records were all checked, given their number; null if there is none. */
  checkFile?(count: number): string | null;
  /** A sentence after the message that the file cannot be read. */
  readonly note?: string;
  /** Returns the next step if the file, as typed, has no records. */
  adviceFor?(file: string): string;
}

interface CheckedValue<TRecord> {
  /** Also that of a wrong record, if it has one. */
  readonly id?: string | undefined;
  /** Null if the record is wrong. */
  readonly record: TRecord | null;
  readonly problems: readonly string[];
}

/** A value, and the line that it begins on. */
type CheckedRecord<TRecord> = CheckedValue<TRecord> & { readonly line: number };

/** Reads the values of a file, those of one piece at a time. */
type Read<TRecord> = () => AsyncIterable<Iterable<CheckedRecord<TRecord>>>;

/**
 * Opens a file, or standard input, and checks all its records and that no id repeats. The records are read
 * again for each pass and never held.
 *
 * @throws CliError that names the file and its problems, and quotes nothing from it.
 */
export async function openRecords<TRecord>(
  path: string,
  form: RecordForm<TRecord>,
  options: InputOptions,
) {
  const { file = path, stdin = Readable.from([]), part } = options;
  const isPiped = file === "-";
  const name = isPiped ? "Standard input" : path;
  const openFile = isPiped ? await keepStdin(stdin, options) : () => createReadStream(path);
  const open = part ? () => Readable.from([Buffer.from(JSON.stringify(part))]) : openFile;
  const read = () => readRecords(open(), name, form);
  const { leftOut, length, describe } = await checkRecords(read, form, options).catch(
    (error: unknown) => {
      if (error instanceof TableError && options.skipInvalid)
        throw toOpenError(error, name, () => UNSKIPPABLE);
      throw toOpenError(error, name, () => form.adviceFor?.(file) ?? "");
    },
  );
  return {
    length,
    leftOutCount: leftOut.size,
    describeLeftOut() {
      if (leftOut.size === 0) return "";
      return `Left out as invalid (${leftOut.size}):\n  ${describe()}\n`;
    },
    /** Reads the records in order, at most `limit`. @throws CliError if the file has changed. */
    async *records(limit = Number.POSITIVE_INFINITY) {
      let remainingCount = Math.min(limit, length);
      let index = -1;
      if (remainingCount === 0) return;
      for await (const values of read()) {
        for (const { record } of values) {
          index += 1;
          if (leftOut.has(index)) continue;
          if (record === null) throw changedInput(name);
          yield { index, record };
          remainingCount -= 1;
          if (remainingCount === 0) return;
        }
      }
      throw changedInput(name);
    },
  };
}

/** Keeps standard input until the process ends, and returns a function that reads it. */
async function keepStdin(
  stdin: CliContext["stdin"],
  { signal = new AbortController().signal, newId = randomUUID }: InputOptions,
): Promise<() => AsyncIterable<Buffer>> {
  const pipedInput = stdin instanceof Readable ? stdin : Readable.from(stdin);
  const path = join(tmpdir(), `.evaluator-${newId()}.tmp`);
  const descriptor = openSync(path, "wx+", 0o600);
  // An open file without a name is removed even after a kill; Windows cannot do that.
  if (process.platform !== "win32") rmSync(path);
  try {
    for await (const piece of addAbortSignal(signal, pipedInput)) writeFileSync(descriptor, piece);
  } catch (error) {
    signal.throwIfAborted();
    throw toTemporaryFileError(error);
  }
  return () => createReadStream("", { fd: descriptor, start: 0, autoClose: false });
}

const PROBLEMS_SHOWN = 10;

/** The problems of the records of a file: the first ones as text, the others counted. */
class RecordProblems {
  #shownItems: { readonly index: number; readonly text: string }[] = [];
  #count = 0;

  /** Adds a problem of the record at an index. */
  add(index: number, { id, line }: Pick<CheckedRecord<unknown>, "id" | "line">, problem: string) {
    this.#count += 1;
    const last = this.#shownItems.at(-1)?.index ?? -1;
    if (this.#shownItems.length === PROBLEMS_SHOWN && last <= index) return;
    const text = `${recordLabel(index, id, line)}: ${problem}`;
    this.#shownItems = [...this.#shownItems, { index, text }]
      .toSorted((one, other) => one.index - other.index)
      .slice(0, PROBLEMS_SHOWN);
  }

  /** Returns the problems, one a line. */
  describe(): string {
    const lines = this.#shownItems.map(({ text }) => text);
    return withRest(lines, PROBLEMS_SHOWN, this.#count).join("\n  ");
  }
}

/** Returns the number of valid records, and the indices of the others. */
async function checkRecords<TRecord>(
  read: Read<TRecord>,
  form: RecordForm<TRecord>,
  { skipInvalid = false, signal }: InputOptions,
) {
  const problems = new RecordProblems();
  using ids = new RepeatFinder();
  const leftOut = new Set<number>();
  let length = 0;
  for await (const values of read()) {
    signal?.throwIfAborted();
    for (const { id, line, record, problems: newProblems } of values) {
      for (const problem of newProblems) problems.add(length, { id, line }, problem);
      if (record === null) leftOut.add(length);
      // The id of an invalid record counts as repeated by no other.
      ids.add(record === null ? randomBytes(16) : hash("sha256", id ?? "", "buffer"));
      length += 1;
    }
  }
  const problem = form.checkFile?.(length) ?? null;
  if (problem !== null) throw new CliError(problem);
  const firstIndexes = new Map([...ids.repeats()].map(({ index, first }) => [index, first]));
  for (const index of firstIndexes.keys()) leftOut.add(index);
  if (firstIndexes.size > 0) await nameRepeated(read(), firstIndexes, problems);
  length -= leftOut.size;
  const isUsable = leftOut.size === 0 || (skipInvalid && length > 0);
  if (!isUsable) throw new CliError(problems.describe());
  return { leftOut, length, describe: () => problems.describe() };
}

// Only now is the id of a repeated record needed in words.
async function nameRepeated(
  batches: AsyncIterable<Iterable<CheckedRecord<unknown>>>,
  firstIndexes: ReadonlyMap<number, number>,
  problems: RecordProblems,
): Promise<void> {
  const firstLines = new Map([...firstIndexes.values()].map((first) => [first, 0]));
  let index = -1;
  for await (const values of batches) {
    for (const { id, line } of values) {
      index += 1;
      if (firstLines.has(index)) firstLines.set(index, line);
      const first = firstIndexes.get(index);
      if (first === undefined) continue;
      const problem = `id is also that of the record at index ${first}, line ${firstLines.get(first)}`;
      problems.add(index, { id, line }, `${problem}; give every record its own id`);
    }
  }
}

async function* readRecords<TRecord>(
  chunks: AsyncIterable<Buffer>,
  name: string,
  form: RecordForm<TRecord>,
): AsyncGenerator<Iterable<CheckedRecord<TRecord>>> {
  try {
    for await (const records of form.split(chunks)) yield checkEach(records, form);
  } catch (error) {
    const note = name.endsWith("stdin.json")
      ? "Save the piped input under this name, or pipe it in again."
      : form.note;
    throw toFileError(error, `read ${name}`, note);
  }
}

function* checkEach<TRecord>(records: Iterable<JsonRecord>, form: RecordForm<TRecord>) {
  for (const read of records) {
    const { line } = read;
    if ("value" in read) yield { line, ...form.check(read.value, read.inexact) };
    else yield { line, record: null, problems: [read.problem] };
  }
}

const UNSKIPPABLE =
  "--skip-invalid cannot leave out this line, since the next record's beginning is unknown.";

function toOpenError(error: unknown, path: string, adviceFor: () => string): unknown {
  const isOfFile = error instanceof CliError && !(error instanceof InterruptedError);
  if (!isOfFile || error.cause !== undefined) return error;
  const problem = printable`${path} cannot be used, and nothing was sent`;
  const hasAdvice = error instanceof NoListError || error instanceof TableError;
  const next = hasAdvice ? adviceFor() : "";
  return new CliError(`${problem}:\n  ${error.message}${next && `\n  ${next}`}`);
}
