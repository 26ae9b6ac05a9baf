import { hash, randomBytes } from "node:crypto";
import { CliError } from "evaluator-kit";
import {
  type InputOptions,
  type JsonRecord,
  recordLabel,
  RepeatFinder,
} from "evaluator-runs/source";
import { z } from "zod";
import { mailSchema } from "./mail-schema.ts";
import type { StateField } from "./state-fields.ts";

const PROBLEMS_SHOWN = 10;

/**
 * Checks each record of a file, and looks for repeated ids; returns the number of valid records, and
 * the indices of the others.
 *
 * @throws CliError that lists the problems and quotes nothing from the records.
 */
export async function checkMails(
  read: () => AsyncIterable<Iterable<JsonRecord>>,
  {
    skipInvalid = false,
    signal,
    stateFields,
  }: InputOptions & { readonly stateFields: readonly StateField[] },
) {
  // A wanted field of another form is a problem; the schema of a mail leaves it out.
  const shape = stateFields.map((field) => [field, mailSchema.shape[field].unwrap()]);
  const fields = z.object(Object.fromEntries(shape));
  const problems = new Problems();
  using ids = new RepeatFinder();
  const leftOut = new Set<number>();
  let length = 0;
  for await (const records of read()) {
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
  if (repeated.size > 0) await nameRepeated(read(), repeated, problems);
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
  readonly #shown: { readonly index: number; readonly line: string }[] = [];
  #count = 0;

  add(index: number, record: JsonRecord, problem: string): void {
    this.#count += 1;
    const last = this.#shown.at(-1)?.index ?? -1;
    if (this.#shown.length === PROBLEMS_SHOWN && last <= index) return;
    const { data } = z
      .looseObject({ id: mailSchema.shape.id })
      .safeParse("value" in record ? record.value : null);
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
