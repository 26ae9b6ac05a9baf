import { hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { CliError, printable, toFileError } from "evaluator-cli-kit";
import { RepeatFinder } from "./digests.ts";
import { type JsonRecord, readJsonRecords } from "./json-records.ts";
import { type Mail, mailSchema, recordLabel, type StateField, stateFieldsCheck } from "./mail.ts";
import { toUtf8Chunks } from "./utf8-chunks.ts";

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
  /** Ends the reading. */
  readonly signal?: AbortSignal;
}

/** An input file whose records were checked; it is read anew each time, and never held. */
export class MailFile {
  readonly #path: string;
  readonly #leftOut: ReadonlySet<number>;
  readonly #problems: Problems;
  /** How many mails it has. */
  readonly length: number;

  private constructor(path: string, { leftOut, problems, length }: CheckedRecords) {
    this.#path = path;
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
    const checked = await naming(path, () => checkRecords(path, options));
    return new MailFile(path, checked);
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
    for await (const records of readRecords(this.#path)) {
      for (const record of records) {
        index += 1;
        if (this.#leftOut.has(index)) continue;
        const { data } = mailSchema.safeParse("value" in record ? record.value : null);
        if (data === undefined) throw changedInput(this.#path);
        yield { index, mail: data };
        left -= 1;
        if (left === 0) return;
      }
    }
    throw changedInput(this.#path);
  }
}

/** Returns the error of an input that is no longer what it was when the run began. */
export function changedInput(path: string): CliError {
  const problem = printable`${path} has changed since the run began`;
  return new CliError(`${problem}; run the same command again.`);
}

interface CheckedRecords {
  readonly leftOut: ReadonlySet<number>;
  readonly problems: Problems;
  readonly length: number;
}

async function checkRecords(
  path: string,
  { skipInvalid = false, stateFields = [], signal }: MailFileOptions,
): Promise<CheckedRecords> {
  using check = new RecordCheck(stateFields);
  const leftOut = new Set<number>();
  let index = 0;
  for await (const records of readRecords(path)) {
    signal?.throwIfAborted();
    for (const record of records) {
      if (!check.isFine(index, record)) leftOut.add(index);
      index += 1;
    }
  }
  const { problems } = check;
  const repeated = check.repeatedIds();
  for (const repeat of repeated.keys()) leftOut.add(repeat);
  if (repeated.size > 0) await nameRepeated(path, repeated, problems);
  const isUsable = leftOut.size === 0 || (skipInvalid && leftOut.size < index);
  if (!isUsable) throw new CliError(problems.describe());
  return { leftOut, problems, length: index - leftOut.size };
}

// Their records are not held, so the file is read once more where there are any.
async function nameRepeated(
  path: string,
  repeated: ReadonlyMap<number, number>,
  problems: Problems,
): Promise<void> {
  let index = 0;
  for await (const records of readRecords(path)) {
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
    const line = `${recordLabel(index, record)}: ${problem}`;
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

async function* readRecords(path: string): AsyncGenerator<Iterable<JsonRecord>> {
  try {
    const chunks = createReadStream(path);
    yield* readJsonRecords(toUtf8Chunks(chunks), "mails");
  } catch (error) {
    throw toFileError(error, `read ${path}`, "Check the path of the input file.");
  }
}

async function naming<TResult>(path: string, run: () => Promise<TResult>): Promise<TResult> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof CliError) || error.cause !== undefined) throw error;
    const problem = printable`${path} cannot be used, and nothing was sent`;
    throw new CliError(`${problem}:\n  ${error.message}`);
  }
}
