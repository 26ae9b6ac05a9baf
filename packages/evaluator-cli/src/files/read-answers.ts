import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { AnswerTable, type AnswerTableOptions, type InputRecord } from "evaluator-calibration";
import { type CliContext, UsageError } from "evaluator-kit";
import { isDatabase, type ReadFile, readRecords } from "./read-records.ts";

/** Returns the names after `--answers`, then the words without an option. */
export function answerNames(
  given: readonly string[] = [],
  more: readonly string[],
): readonly string[] {
  if (given.length > 0) return [...given, ...more];
  throw new UsageError("--answers is missing: a triage journal, a decision log, or lines of JSON.");
}

/** Reads answers of triage journals, result files, decision logs and lines of JSON, in any mix. */
export async function readAnswers(
  names: readonly string[],
  options: AnswerTableOptions,
  context: CliContext,
) {
  const table = new AnswerTable(options);
  const files: ReadFile[] = [];
  const journals: Awaited<ReturnType<typeof entriesOf>>[] = [];
  const nouns = new Set<string>();
  for (const name of names) {
    const path = resolve(context.cwd, name);
    if (await isDatabase(path)) {
      const entries = await entriesOf(path);
      addEntries(entries(), name, table);
      journals.push(entries);
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
    /** Returns the text of some records by id, one line each, if it is known. */
    textsOf: (ids: ReadonlySet<string>): Readonly<Record<string, string>> => {
      const texts: [string, string][] = [];
      for (const entries of journals) {
        for (const { id, ...entry } of entries()) {
          if ("state" in entry && ids.has(id)) texts.push([id, describeState(entry.state)]);
        }
      }
      return Object.fromEntries(texts);
    },
  };
}

/** Returns a function that reads a triage journal; its library is loaded for a journal alone. */
export async function entriesOf(path: string) {
  const { readEntries } = await import("evaluator-runs");
  return () => readEntries(path);
}

type Entries = ReturnType<Awaited<ReturnType<typeof entriesOf>>>;

function addEntries(entries: Entries, file: string, table: AnswerTable): void {
  for (const entry of entries) {
    if (entry.evaluation === null) {
      table.addFailed(entry.id);
      continue;
    }
    const { id, state, questions, service, evaluation } = entry;
    if (typeof state === "object" && state !== null) {
      table.noteDate("date" in state ? state["date"] : null);
      table.noteCluster(id, state);
    }
    table.addEvaluation({ id, questions, wire: service.address, evaluation }, { file });
  }
}

/** Returns the texts of a state in one line. */
export function describeState(state: unknown): string {
  if (typeof state !== "object" || state === null) return String(state);
  return Object.values(state)
    .filter((part) => typeof part === "string")
    .join(" · ");
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
