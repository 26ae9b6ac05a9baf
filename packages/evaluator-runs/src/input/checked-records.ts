import { hash, randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { CliError, printable, toFileError } from "evaluator-kit";
import { RepeatFinder } from "./digests.ts";
import { type JsonRecord, NoListError } from "./json-records.ts";
import { keepStdin } from "./kept-stdin.ts";
import { RecordProblems } from "./record-problems.ts";
import { changedInput, type InputOptions, type RecordInput } from "./record-source.ts";

/** A value that was checked: its record, or its problems. */
interface CheckedValue<TRecord> {
  /** Also that of a wrong record, if it has one. */
  readonly id: string | undefined;
  /** Null if the record is wrong. */
  readonly record: TRecord | null;
  readonly problems: readonly string[];
}

/** How the records of a kind of file are read and checked. */
export interface RecordForm<TRecord> {
  /** Returns the records of bytes, those of one piece at a time. */
  split(chunks: AsyncIterable<Buffer>): AsyncIterable<Iterable<JsonRecord>>;
  check(value: unknown): CheckedValue<TRecord>;
  /** Returns the problem of a file whose records were all checked; null if there is none. */
  checkFile?(): string | null;
  /** The next step if the file cannot be read. */
  readonly advice: string;
  /** Returns the next step if the file, as typed, has no records. */
  adviceFor?(file: string): string;
}

/** The records of a file, which was checked. It is read again for each pass, and never held. */
export interface CheckedRecords<TRecord> extends Pick<
  RecordInput,
  "length" | "leftOutCount" | "describeLeftOut"
> {
  /** Reads the records in order, at most `limit`. @throws CliError if the file has changed. */
  records(limit?: number): AsyncGenerator<{ readonly index: number; readonly record: TRecord }>;
}

/** The name of a file in messages, and its bytes, which are read more than once. */
interface Source {
  readonly path: string;
  readonly open: () => AsyncIterable<Buffer>;
}

/**
 * Opens a file, or standard input, and checks all its records and that no id repeats.
 *
 * @throws CliError that names the file and its problems, and quotes nothing from it.
 */
export async function openRecords<TRecord>(
  path: string,
  form: RecordForm<TRecord>,
  options: InputOptions,
): Promise<CheckedRecords<TRecord>> {
  const { file = path, stdin = Readable.from([]), signal } = options;
  const source =
    file === "-"
      ? { path: "Standard input", open: await keepStdin(stdin, signal) }
      : { path, open: () => createReadStream(path) };
  const { leftOut, length, describe } = await checkRecords(source, form, options).catch(
    (error: unknown) => {
      throw toOpenError(error, source.path, () => form.adviceFor?.(file) ?? "");
    },
  );
  return {
    length,
    leftOutCount: leftOut.size,
    describeLeftOut() {
      if (leftOut.size === 0) return "";
      return `Left out, since they are wrong (${leftOut.size}):\n  ${describe()}\n`;
    },
    async *records(limit = Number.POSITIVE_INFINITY) {
      let left = Math.min(limit, length);
      let index = -1;
      if (left === 0) return;
      for await (const batch of readRecords(source, form)) {
        for (const read of batch) {
          index += 1;
          if (leftOut.has(index)) continue;
          const { record } = checkRecord(read, form);
          if (record === null) throw changedInput(source.path);
          yield { index, record };
          left -= 1;
          if (left === 0) return;
        }
      }
      throw changedInput(source.path);
    },
  };
}

/** Returns the number of valid records, and the indices of the others. */
async function checkRecords<TRecord>(
  source: Source,
  form: RecordForm<TRecord>,
  { skipInvalid = false, signal }: InputOptions,
) {
  const problems = new RecordProblems();
  using ids = new RepeatFinder();
  const leftOut = new Set<number>();
  let length = 0;
  for await (const records of readRecords(source, form)) {
    signal?.throwIfAborted();
    for (const read of records) {
      const { id, record, problems: found } = checkRecord(read, form);
      for (const problem of found) problems.add(length, id, problem);
      if (record === null) leftOut.add(length);
      // The id of an invalid record counts as repeated by no other.
      ids.add(record === null ? randomBytes(16) : hash("sha256", id ?? "", "buffer"));
      length += 1;
    }
  }
  const problem = form.checkFile?.() ?? null;
  if (problem !== null) throw new CliError(problem);
  const repeated = new Map([...ids.repeats()].map(({ index, first }) => [index, first]));
  for (const index of repeated.keys()) leftOut.add(index);
  if (repeated.size > 0)
    await nameRepeated(readRecords(source, form), { form, repeated, problems });
  length -= leftOut.size;
  const isUsable = leftOut.size === 0 || (skipInvalid && length > 0);
  if (!isUsable) throw new CliError(problems.describe());
  return { leftOut, length, describe: () => problems.describe() };
}

function checkRecord<TRecord>(read: JsonRecord, form: RecordForm<TRecord>): CheckedValue<TRecord> {
  if ("value" in read) return form.check(read.value);
  return { id: undefined, record: null, problems: [read.problem] };
}

// Only now is the id of a repeated record needed in words.
async function nameRepeated<TRecord>(
  batches: AsyncIterable<Iterable<JsonRecord>>,
  {
    form,
    repeated,
    problems,
  }: {
    readonly form: RecordForm<TRecord>;
    readonly repeated: ReadonlyMap<number, number>;
    readonly problems: RecordProblems;
  },
): Promise<void> {
  let index = -1;
  for await (const records of batches) {
    for (const read of records) {
      index += 1;
      const first = repeated.get(index);
      if (first === undefined) continue;
      const problem = `id is also that of the record at index ${first}; give every record its own id`;
      problems.add(index, checkRecord(read, form).id, problem);
    }
  }
}

async function* readRecords<TRecord>(
  { path, open }: Source,
  form: RecordForm<TRecord>,
): AsyncGenerator<Iterable<JsonRecord>> {
  try {
    yield* form.split(open());
  } catch (error) {
    const next = path.endsWith("stdin.json")
      ? "What was piped in is not kept: save it under this name, or pipe it in again."
      : form.advice;
    throw toFileError(error, `read ${path}`, next);
  }
}

function toOpenError(error: unknown, path: string, adviceFor: () => string): unknown {
  if (!(error instanceof CliError) || error.cause !== undefined) return error;
  const problem = printable`${path} cannot be used, and nothing was sent`;
  const next = error instanceof NoListError ? adviceFor() : "";
  return new CliError(`${problem}:\n  ${error.message}${next && `\n  ${next}`}`);
}
