import { createReadStream, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { addAbortSignal, Readable } from "node:stream";
import { type CliContext, CliError, printable, toFileError } from "evaluator-kit";
import type { JsonObject } from "evaluator-client";
import {
  type AdditionCosts,
  changedInput,
  type InputOptions,
  type JsonRecord,
  NoListError,
  openTemporary,
  readJsonRecords,
  type RecordInput,
  type StateOptions,
  toUtf8Chunks,
} from "evaluator-runs/source";
import { checkMails } from "./check-mails.ts";
import { mailSchema } from "./mail-schema.ts";
import { type MailRecord, toRecord, toState } from "./mail.ts";
import { toStateOptions } from "./state-fields.ts";
import { additionCosts, chooseState } from "./state.ts";

/** The name of a file in messages, and its bytes, which are read more than once. */
interface Source {
  readonly path: string;
  readonly open: () => AsyncIterable<Buffer>;
}

type CheckedMails = Awaited<ReturnType<typeof checkMails>>;

/** A checked file of mails as the input of a run; it is read again for each pass, and never held. */
export class MailInput implements RecordInput {
  readonly #source: Source;
  readonly #checked: CheckedMails;
  readonly #options: StateOptions;
  #toState: Parameters<typeof toRecord>[1] = toState;

  private constructor(source: Source, checked: CheckedMails, options: StateOptions) {
    this.#source = source;
    this.#checked = checked;
    this.#options = options;
  }

  /**
   * Checks all records of a file: JSON in UTF-8 or UTF-16, as an array, under `mails`, or by line.
   *
   * @throws CliError that names the file and its problems, and quotes nothing from it.
   */
  static async open(path: string, options: InputOptions = {}): Promise<MailInput> {
    const { file = path, stdin = Readable.from([]), signal, state = {} } = options;
    const { stateFields } = toStateOptions(state);
    const source =
      file === "-"
        ? { path: "Standard input", open: await keepPiped(stdin, signal) }
        : { path, open: () => createReadStream(path) };
    const read = () => readRecords(source);
    const checked = await checkMails(read, { ...options, stateFields }).catch((error: unknown) => {
      throw toOpenError(error, source.path, file);
    });
    return new MailInput(source, checked, state);
  }

  get length(): number {
    return this.#checked.length;
  }

  get leftOutCount(): number {
    return this.#checked.leftOut.size;
  }

  describeLeftOut(): string {
    if (this.leftOutCount === 0) return "";
    return `Left out, since they are wrong (${this.leftOutCount}):\n  ${this.#checked.describe()}\n`;
  }

  async *records(
    limit = Number.POSITIVE_INFINITY,
  ): AsyncGenerator<{ readonly index: number; readonly record: MailRecord }> {
    let left = Math.min(limit, this.length);
    let index = -1;
    if (left === 0) return;
    for await (const records of readRecords(this.#source)) {
      for (const record of records) {
        index += 1;
        if (this.#checked.leftOut.has(index)) continue;
        const { data } = mailSchema.safeParse("value" in record ? record.value : null);
        if (data === undefined) throw changedInput(this.#source.path);
        yield { index, record: toRecord(data, this.#toState) };
        left -= 1;
        if (left === 0) return;
      }
    }
    throw changedInput(this.#source.path);
  }

  async withState(options: StateOptions, context: CliContext): Promise<RecordInput> {
    const input = new MailInput(this.#source, this.#checked, options);
    input.#toState = await chooseState(toStateOptions(options), this.records(), context);
    return input;
  }

  additions(tokensOf: (state: JsonObject) => number): AdditionCosts {
    return additionCosts(toStateOptions(this.#options), tokensOf);
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

/** Keeps standard input until the process ends, and returns a function that reads it. */
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
