import { hash } from "node:crypto";
import { createReadStream, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { addAbortSignal, Readable } from "node:stream";
import { type CliContext, CliError, printable, toFileError } from "evaluator-kit";
import {
  changedInput,
  type JsonRecord,
  NoListError,
  openTemporary,
  readJsonRecords,
  recordLabel,
  RepeatFinder,
  toUtf8Chunks,
} from "evaluator-runs/source";
import { type Mail, mailSchema, stateFieldsCheck } from "./mail-schema.ts";
import type { StateField } from "./state-fields.ts";
import { z } from "zod";

const PROBLEMS_SHOWN = 10;

/** A mail of an input file, and the index of its record there, from 0. */
export interface InputMail {
  readonly index: number;
  readonly mail: Mail;
}

/** How an input file is opened. */
export interface MailFileOptions {
  /** Whether wrong records are left out. @default false */
  readonly skipInvalid?: boolean;
  /** What of a record is sent beside the contract's fields. @default nothing */
  readonly stateFields?: readonly StateField[];
  /** The file as typed; `-` is what comes through standard input. @default the path */
  readonly file?: string;
  readonly stdin?: CliContext["stdin"];
  /** Ends the reading. */
  readonly signal?: AbortSignal;
}

/** What a file is called in messages, and its bytes, which are read more than once. */
interface Source {
  readonly path: string;
  readonly open: () => AsyncIterable<Buffer>;
}

/** An input file whose records were checked; it is read anew each time, and never held. */
export class MailFile {
  readonly #source: Source;
  readonly #leftOut: ReadonlySet<number>;
  readonly #problems: Problems;
  /** How many mails it has. */
  readonly length: number;

  private constructor(source: Source, { leftOut, problems, length }: CheckedRecords) {
    this.#source = source;
    this.#leftOut = leftOut;
    this.#problems = problems;
    this.length = length;
  }

  /**
   * Checks all records of a file: JSON in UTF-8 or UTF-16, as an array, under `mails`, or by line.
   *
   * @throws CliError that names the file and what is wrong with it, and quotes nothing from it.
   */
  static async open(path: string, options: MailFileOptions = {}): Promise<MailFile> {
    const { file = path, stdin = Readable.from([]) } = options;
    const source =
      file === "-"
        ? { path: "Standard input", open: await keepPiped(stdin, options.signal) }
        : { path, open: () => createReadStream(path) };
    const checked = await checkRecords(source, options).catch((error: unknown) => {
      throw toOpenError(error, source.path, file);
    });
    return new MailFile(source, checked);
  }

  /** How many records are left out, since they are wrong. */
  get leftOutCount(): number {
    return this.#leftOut.size;
  }

  /** Returns lines that name what is left out. */
  describeLeftOut(): string {
    if (this.leftOutCount === 0) return "";
    return `Left out, since they are wrong (${this.leftOutCount}):\n  ${this.#problems.describe()}\n`;
  }

  /**
   * Reads the mails in order, at most `limit`.
   *
   * @throws CliError when the file is no longer what it was.
   */
  async *mails(limit = Number.POSITIVE_INFINITY): AsyncGenerator<InputMail> {
    let left = Math.min(limit, this.length);
    let index = -1;
    if (left === 0) return;
    for await (const records of readRecords(this.#source)) {
      for (const record of records) {
        index += 1;
        if (this.#leftOut.has(index)) continue;
        const { data } = mailSchema.safeParse("value" in record ? record.value : null);
        if (data === undefined) throw changedInput(this.#source.path);
        yield { index, mail: data };
        left -= 1;
        if (left === 0) return;
      }
    }
    throw changedInput(this.#source.path);
  }
}

type CheckedRecords = Awaited<ReturnType<typeof checkRecords>>;

async function checkRecords(
  source: Source,
  { skipInvalid = false, stateFields = [], signal }: MailFileOptions,
) {
  using check = new RecordCheck(stateFields);
  const leftOut = new Set<number>();
  let index = 0;
  for await (const records of readRecords(source)) {
    signal?.throwIfAborted();
    for (const record of records) {
      if (!check.isFine(index, record)) leftOut.add(index);
      index += 1;
    }
  }
  const { problems } = check;
  const repeated = check.repeatedIds();
  for (const repeat of repeated.keys()) leftOut.add(repeat);
  if (repeated.size > 0) await nameRepeated(source, repeated, problems);
  const isUsable = leftOut.size === 0 || (skipInvalid && leftOut.size < index);
  if (!isUsable) throw new CliError(problems.describe());
  return { leftOut, problems, length: index - leftOut.size };
}

// Their records are not held, so the file is read once more where there are any.
async function nameRepeated(
  source: Source,
  repeated: ReadonlyMap<number, number>,
  problems: Problems,
): Promise<void> {
  let index = 0;
  for await (const records of readRecords(source)) {
    for (const record of records) {
      const first = repeated.get(index);
      const value = "value" in record ? record.value : null;
      if (first !== undefined) {
        const advice = "give every record an id of its own";
        problems.add(index, value, `id is also that of the record at index ${first}; ${advice}`);
      }
      index += 1;
    }
  }
}

/** Finds what is wrong with records: each by itself, and ids that two of them have. */
class RecordCheck implements Disposable {
  readonly problems = new Problems();
  readonly #ids = new RepeatFinder();
  /** The indexes of the records that are wrong by themselves; the others have an id in the finder. */
  readonly #wrong: number[] = [];
  readonly #problemsOfFields: (record: unknown) => string[];

  constructor(stateFields: readonly StateField[]) {
    this.#problemsOfFields = stateFieldsCheck(stateFields);
  }

  isFine(index: number, record: JsonRecord): boolean {
    const problems = "problem" in record ? [record.problem] : this.#problemsOf(record.value);
    const value = "problem" in record ? null : record.value;
    for (const problem of problems) this.problems.add(index, value, problem);
    if (problems.length > 0) this.#wrong.push(index);
    return problems.length === 0;
  }

  /** Returns the indexes of records whose id an earlier one has, each with the index of that one. */
  repeatedIds(): ReadonlyMap<number, number> {
    const found = [...this.#ids.repeats()].toSorted((one, other) => one.index - other.index);
    return new Map(found.map(({ index, first }) => [this.#indexOf(index), this.#indexOf(first)]));
  }

  [Symbol.dispose](): void {
    this.#ids[Symbol.dispose]();
  }

  /** The index of the record that has the id of a number: the wrong ones before it have none. */
  #indexOf(number: number): number {
    let [low, high] = [0, this.#wrong.length];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((this.#wrong[middle] ?? 0) - middle <= number) low = middle + 1;
      else high = middle;
    }
    return number + low;
  }

  #problemsOf(value: unknown): string[] {
    const { data, error } = mailSchema.safeParse(value);
    if (data === undefined) {
      return error.issues.map(({ path, message }) => [...path, message].join(" "));
    }
    const problems = this.#problemsOfFields(value);
    if (problems.length === 0) this.#ids.add(hash("sha256", data.id, "buffer"));
    return problems;
  }
}

/** What is wrong with the records of a file: the first of it in words, the rest as a number. */
class Problems {
  readonly #shown: { readonly index: number; readonly line: string }[] = [];
  #count = 0;

  add(index: number, record: unknown, problem: string): void {
    this.#count += 1;
    const last = this.#shown.at(-1);
    if (this.#shown.length === PROBLEMS_SHOWN && last !== undefined && last.index <= index) return;
    const { data } = z.looseObject({ id: mailSchema.shape.id }).safeParse(record);
    const line = `${recordLabel(index, data?.id)}: ${problem}`;
    const at = this.#shown.findIndex((shown) => shown.index > index);
    this.#shown.splice(at === -1 ? this.#shown.length : at, 0, { index, line });
    this.#shown.splice(PROBLEMS_SHOWN);
  }

  describe(): string {
    const rest = this.#count - this.#shown.length;
    const more = rest === 0 ? [] : [`and ${rest} more`];
    return [...this.#shown.map(({ line }) => line), ...more].join("\n  ");
  }
}

async function* readRecords({ path, open }: Source): AsyncGenerator<Iterable<JsonRecord>> {
  try {
    yield* readJsonRecords(toUtf8Chunks(open()), "mails");
  } catch (error) {
    const advice = path.endsWith("stdin.json")
      ? "What was piped in is not kept: save it under this name, or pipe it in again."
      : "Check the path; an export of mail is imported first: npm run triage -- import SOURCE inbox.json";
    throw toFileError(error, `read ${path}`, advice);
  }
}

/** Keeps what is piped in as long as the process lasts, and returns what reads it. */
async function keepPiped(stdin: CliContext["stdin"], signal = new AbortController().signal) {
  const piped = stdin instanceof Readable ? stdin : Readable.from(stdin);
  const { descriptor } = openTemporary();
  try {
    for await (const piece of addAbortSignal(signal, piped)) writeFileSync(descriptor, piece);
  } catch (error) {
    signal.throwIfAborted();
    throw toFileError(error, `write into ${tmpdir()}`, "Make room there, or set TMPDIR.");
  }
  return () => createReadStream("", { fd: descriptor, start: 0, autoClose: false });
}

function toOpenError(error: unknown, path: string, file: string): unknown {
  if (!(error instanceof CliError) || error.cause !== undefined) return error;
  const problem = printable`${path} cannot be used, and nothing was sent`;
  const source = file === "-" ? "FILE" : /\s/.test(file) ? JSON.stringify(file) : file;
  const hint = printable`If it is an mbox, a mail or an archive: npm run triage -- import ${source} inbox.json`;
  const next = error instanceof NoListError ? `\n  ${hint}` : "";
  return new CliError(`${problem}:\n  ${error.message}${next}`);
}
