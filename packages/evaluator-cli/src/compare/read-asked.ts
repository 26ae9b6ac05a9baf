import { resolve } from "node:path";
import { CalibrationInputError, idOf, type InputRecord } from "evaluator-calibration";
import type { Questions } from "evaluator-client";
import { type CliContext, CliError, printable } from "evaluator-kit";
import { readQuestionsFile } from "../engines/asked-questions.ts";
import { isDatabase, readStates } from "../files/read-journal.ts";
import { type ReadFile, readRecords } from "../files/read-records.ts";
import type { CompareOptions } from "../commands/ask-commands.ts";

/** What every engine is asked. */
export type Asked = Awaited<ReturnType<typeof readAsked>>;

/** Reads states, questions and labels. @throws an error that names file, line and what would be right. */
export async function readAsked(options: CompareOptions, context: CliContext) {
  const labels: InputRecord[] = [];
  const labelsFile = options.labels === undefined ? null : await readLabels(options.labels);
  const read = options.states === undefined ? null : await readStatesFile(options.states, context);
  const states = read?.states ?? statesOf(labels, options.labels ?? "");
  const questions =
    options.questions === undefined
      ? (read?.questions ?? null)
      : await readQuestionsFile(options.questions, context);
  if (questions === null || Object.keys(questions).length === 0) {
    throw new CliError("There are no questions to ask; name a file of them with --questions.");
  }
  if (states.size === 0) throw new CliError("There are no records to ask about.");
  return { states, questions, labels, labelsFile };

  async function readLabels(name: string): Promise<ReadFile> {
    const file = { name, path: resolve(context.cwd, name), csv: true };
    return await readRecords(file, context, (record) => labels.push(record));
  }
}

async function readStatesFile(
  name: string,
  context: CliContext,
): Promise<{ states: Map<string, string | object>; questions: Questions | null }> {
  const path = resolve(context.cwd, name);
  if (await isDatabase(path)) return readStates(name, path);
  const states = new Map<string, string | object>();
  await readRecords({ name, path, csv: true }, context, (record) => {
    const { id, state } = toState(record, name);
    if (states.has(id)) {
      const problem = printable`id "${id}" stands there a second time`;
      throw new CalibrationInputError({ file: name, line: record.line }, problem);
    }
    states.set(id, state);
  });
  return { states, questions: null };
}

function toState(
  { line, value }: InputRecord,
  file: string,
): { id: string; state: string | object } {
  const location = { file, line };
  const { id: _, ...rest } = toFields(value);
  const id = idOf(toFields(value), location);
  const state = "state" in rest ? rest.state : rest;
  if (typeof state === "string" || (typeof state === "object" && state !== null)) {
    return { id, state };
  }
  throw new CalibrationInputError(location, "state is neither text nor a JSON object");
}

function toFields(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** The states that labels hold themselves; several labels of one record may repeat it. */
function statesOf(labels: readonly InputRecord[], file: string): Map<string, string | object> {
  const states = new Map<string, string | object>();
  for (const record of labels) {
    const { value } = record;
    if (typeof value !== "object" || value === null || !("state" in value)) continue;
    const { id, state } = toState(record, file);
    if (!states.has(id)) states.set(id, state);
  }
  if (states.size > 0) return states;
  throw new CliError(
    printable`The labels of ${file} hold no state; name the file of the records with --states.`,
  );
}
