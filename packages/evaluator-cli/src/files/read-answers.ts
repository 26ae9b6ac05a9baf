import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { AnswerTable, type AnswerTableOptions, type InputRecord } from "evaluator-calibration";
import { type CliContext, UsageError } from "evaluator-kit";
import { isDatabase, readJournal, readTexts } from "./read-journal.ts";
import { type ReadFile, readRecords } from "./read-records.ts";

/** Returns the names after `--answers`, then the words without an option. */
export function answerNames(
  given: readonly string[] = [],
  more: readonly string[],
): readonly string[] {
  if (given.length > 0) return [...given, ...more];
  throw new UsageError("--answers is missing: a triage journal, a decision log, or lines of JSON.");
}

/** Answers of one or several files. */
export type ReadAnswers = Awaited<ReturnType<typeof readAnswers>>;

/** Reads answers of triage journals, result files, decision logs and lines of JSON, in any mix. */
export async function readAnswers(
  names: readonly string[],
  options: AnswerTableOptions,
  context: CliContext,
) {
  const table = new AnswerTable(options);
  const files: ReadFile[] = [];
  const journals: { name: string; path: string }[] = [];
  const nouns = new Set<string>();
  for (const name of names) {
    const path = resolve(context.cwd, name);
    if (await isDatabase(path)) {
      readJournal(name, path, table);
      journals.push({ name, path });
      files.push({ name, sha256: await hashOf(path, context) });
      nouns.add("mails");
    } else {
      const take = (record: InputRecord) => {
        nouns.add(nounOf(record.value));
        table.addRecord(record, name);
      };
      files.push(await readRecords({ name, path }, context, take));
    }
  }
  return {
    table,
    files,
    /** A name for the records, such as `mails`. */
    noun: nouns.size === 1 ? ([...nouns][0] ?? "records") : "records",
    /** Returns the text of some records, one line each, if it is known. */
    textsOf: (ids: readonly string[]) =>
      new Map(journals.flatMap(({ name, path }) => Array.from(readTexts(name, path, ids)))),
  };
}

function nounOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return "records";
  if ("requestId" in value) return "messages";
  return "subject" in value ? "mails" : "records";
}

async function hashOf(path: string, { signal }: CliContext): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash, { signal });
  return hash.digest("hex");
}
