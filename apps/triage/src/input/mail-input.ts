import { hash, randomBytes, randomUUID } from "node:crypto";
import { createReadStream, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addAbortSignal, Readable } from "node:stream";
import { type CliContext, CliError, printable, toFileError } from "evaluator-kit";
import type { JsonObject } from "evaluator-client";
import {
  changedInput,
  type InputOptions,
  type JsonRecord,
  NoListError,
  readJsonRecords,
  recordLabel,
  type RecordInput,
  RepeatFinder,
  type StateOptions,
  toUtf8Chunks,
} from "evaluator-runs/source";
import { z } from "zod";
import { type Mail, mailSchema } from "./mail-schema.ts";
import { type MailRecord, toState } from "./mail.ts";
import { type MailStateOptions, toStateOptions } from "./state-fields.ts";
import { additionCosts, chooseState } from "./state.ts";

const PROBLEMS_SHOWN = 10;

/** The name of a file in messages, and its bytes, which are read more than once. */
interface Source {
  readonly path: string;
  readonly open: () => AsyncIterable<Buffer>;
}

/**
 * Opens a file of mails as the input of a run, and checks all its records: JSON in UTF-8 or UTF-16,
 * as an array, under `mails`, or by line. It is read again for each pass, and never held.
 *
 * @throws CliError that names the file and its problems, and quotes nothing from it.
 */
export async function openMails(path: string, options: InputOptions = {}) {
  const { file = path, stdin = Readable.from([]), signal, state = {} } = options;
  const source =
    file === "-"
      ? { path: "Standard input", open: await keepPiped(stdin, signal) }
      : { path, open: () => createReadStream(path) };
  const checked = await checkMails(source, options).catch((error: unknown) => {
    throw toOpenError(error, source.path, file);
  });
  return toInput(source, checked, { options: toStateOptions(state), toMailState: toState });
}

/** Returns the valid mails of a file with the states that a function makes of them. */
function toInput(
  source: Source,
  checked: Awaited<ReturnType<typeof checkMails>>,
  {
    options,
    toMailState,
  }: { readonly options: MailStateOptions; readonly toMailState: (mail: Mail) => JsonObject },
) {
  const { leftOut, length } = checked;
  async function* records(
    limit = Number.POSITIVE_INFINITY,
  ): AsyncGenerator<{ readonly index: number; readonly record: MailRecord }> {
    let left = Math.min(limit, length);
    let index = -1;
    if (left === 0) return;
    for await (const batch of readRecords(source)) {
      for (const record of batch) {
        index += 1;
        if (leftOut.has(index)) continue;
        const { data } = mailSchema.safeParse("value" in record ? record.value : null);
        if (data === undefined) throw changedInput(source.path);
        yield { index, record: toRecord(data, toMailState(data)) };
        left -= 1;
        if (left === 0) return;
      }
    }
    throw changedInput(source.path);
  }
  return {
    length,
    leftOutCount: leftOut.size,
    describeLeftOut() {
      if (leftOut.size === 0) return "";
      return `Left out, since they are wrong (${leftOut.size}):\n  ${checked.describe()}\n`;
    },
    records,
    async withState(stateOptions: StateOptions, context: CliContext): Promise<RecordInput> {
      const wanted = toStateOptions(stateOptions);
      const toMailState = await chooseState(wanted, records(), context);
      return toInput(source, checked, { options: wanted, toMailState });
    },
    additions: (tokensOf: (state: JsonObject) => number) => additionCosts(options, tokensOf),
  } satisfies RecordInput;
}

/** Returns a mail as a record with its state; the note is null if there is nothing to note. */
function toRecord(mail: Mail, state: JsonObject): MailRecord {
  const { id, source, received } = mail;
  const hasNote = source !== undefined || received !== undefined;
  return { id, mail, state, source: hasNote ? { ...source, received } : null };
}

/**
 * Checks each record of a file, and looks for repeated ids; returns the number of valid records, and
 * the indices of the others.
 */
async function checkMails(
  source: Source,
  { skipInvalid = false, signal, state = {} }: InputOptions,
) {
  // A wanted field of another form is a problem; the schema of a mail leaves it out.
  const shape = toStateOptions(state).stateFields.map((field) => [
    field,
    mailSchema.shape[field].unwrap(),
  ]);
  const fields = z.object(Object.fromEntries(shape));
  const problems = new Problems();
  using ids = new RepeatFinder();
  const leftOut = new Set<number>();
  let length = 0;
  for await (const records of readRecords(source)) {
    signal?.throwIfAborted();
    for (const record of records) {
      const { id, found } = checkRecord(record, fields);
      for (const problem of found) problems.add(length, record, problem);
      if (found.length > 0) leftOut.add(length);
      // The id of an invalid record counts as repeated by no other.
      ids.add(found.length > 0 ? randomBytes(16) : hash("sha256", id, "buffer"));
      length += 1;
    }
  }
  const repeated = new Map([...ids.repeats()].map(({ index, first }) => [index, first]));
  for (const index of repeated.keys()) leftOut.add(index);
  if (repeated.size > 0) await nameRepeated(readRecords(source), repeated, problems);
  length -= leftOut.size;
  const isUsable = leftOut.size === 0 || (skipInvalid && length > 0);
  if (!isUsable) throw new CliError(problems.describe());
  return { leftOut, length, describe: () => problems.describe() };
}

/** Returns the problems of a record, and the id of a valid one. */
function checkRecord(record: JsonRecord, fields: z.ZodObject) {
  if ("problem" in record) return { id: "", found: [record.problem] };
  const { data, error } = mailSchema.safeParse(record.value);
  const { issues = [] } = error ?? fields.safeParse(record.value).error ?? {};
  const found = issues.map(({ path, message }) => [...path, message].join(" "));
  return { id: data?.id ?? "", found };
}

// Only now is the id of a repeated record needed in words.
async function nameRepeated(
  batches: AsyncIterable<Iterable<JsonRecord>>,
  repeated: ReadonlyMap<number, number>,
  problems: Problems,
): Promise<void> {
  let index = 0;
  for await (const records of batches) {
    for (const record of records) {
      const first = repeated.get(index);
      const advice = "give every record its own id";
      if (first !== undefined) {
        problems.add(index, record, `id is also that of the record at index ${first}; ${advice}`);
      }
      index += 1;
    }
  }
}

/** The problems of a file: the first ones as text, the others counted. */
class Problems {
  #shown: { readonly index: number; readonly line: string }[] = [];
  #count = 0;

  add(index: number, record: JsonRecord, problem: string): void {
    this.#count += 1;
    const last = this.#shown.at(-1)?.index ?? -1;
    if (this.#shown.length === PROBLEMS_SHOWN && last <= index) return;
    const { data } = z
      .looseObject({ id: mailSchema.shape.id })
      .safeParse("value" in record ? record.value : null);
    const line = `${recordLabel(index, data?.id)}: ${problem}`;
    this.#shown = [...this.#shown, { index, line }]
      .toSorted((one, other) => one.index - other.index)
      .slice(0, PROBLEMS_SHOWN);
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

/** Keeps standard input until the process ends, and returns a function that reads it. */
async function keepPiped(stdin: CliContext["stdin"], signal = new AbortController().signal) {
  const piped = stdin instanceof Readable ? stdin : Readable.from(stdin);
  const path = join(tmpdir(), `.triage-${randomUUID()}.tmp`);
  const descriptor = openSync(path, "wx+", 0o600);
  // An open file without a name is removed even after a kill; Windows cannot do that.
  if (process.platform !== "win32") rmSync(path);
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
