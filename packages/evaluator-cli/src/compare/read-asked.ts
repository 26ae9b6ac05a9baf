import { CalibrationInputError, idOf, type InputRecord } from "evaluator-calibration";
import type { Questions } from "evaluator-client";
import { type CliContext, CliError, printable } from "evaluator-kit";
import type { CompareOptions } from "../commands/ask-commands.ts";
import { readEngine } from "../engines/engine.ts";
import { fieldsOf, journalEntries, readQuestionsFile, readRecords } from "../read-files.ts";

/** The options, engines, questions and records of a comparison, and the labels. */
export type Asked = Awaited<ReturnType<typeof readAsked>>;

/** Reads states, questions and labels. @throws an error with the file, the line and the advice. */
export async function readAsked(options: CompareOptions, context: CliContext) {
  const engines = options.engine.map((text) => readEngine(text, context.env));
  const labels: InputRecord[] = [];
  const name = options.labels;
  const labelsFile =
    name === undefined
      ? null
      : await readRecords({ name, csv: true }, context, (record) => labels.push(record));
  const { states, questions: kept } =
    options.states === undefined
      ? statesOf(labels, name ?? "")
      : await readStatesFile(options.states, context);
  const questions = (await readQuestionsFile(options.questions, context)) ?? kept;
  if (questions === null || Object.keys(questions).length === 0) {
    throw new CliError("There are no questions to ask; name a file of them with --questions.");
  }
  if (states.size === 0) throw new CliError("There are no records to ask about.");
  return { options, engines, states, questions, labels, labelsFile };
}

/** Returns the states of a file, and its questions if it is a journal. */
async function readStatesFile(name: string, context: CliContext) {
  const states = new Map<string, string | object>();
  const entries = await journalEntries(name, context);
  if (entries === null) {
    await readRecords({ name, csv: true }, context, (record) => {
      const { id, state } = toState(record, name);
      if (states.has(id)) {
        const problem = printable`id "${id}" is listed a second time`;
        throw new CalibrationInputError({ file: name, line: record.line }, problem);
      }
      states.set(id, state);
    });
    return { states, questions: null };
  }
  const wordings = new Set<Questions>();
  for (const entry of entries()) {
    if (entry.evaluation === null) continue;
    states.set(entry.id, entry.state as string | object);
    wordings.add(entry.questions);
  }
  const [questions = {}, ...others] = new Map(
    Array.from(wordings, (one) => [JSON.stringify(one), one]),
  ).values();
  if (others.length === 0) return { states, questions };
  const problem = printable`${name} holds answers to ${String(others.length + 1)} wordings of the questions.`;
  throw new CliError(`${problem} Run the triage again, so that all mails have the same.`);
}

function toState({ line, value }: InputRecord, file: string) {
  const location = { file, line };
  const { id: _, ...rest } = fieldsOf(value);
  const id = idOf(fieldsOf(value), location);
  const state = "state" in rest ? rest["state"] : rest;
  if (typeof state === "string" || (typeof state === "object" && state !== null)) {
    return { id, state };
  }
  throw new CalibrationInputError(location, "state is neither text nor a JSON object");
}

/** Returns the states in the labels; several labels of one record may repeat its state. */
function statesOf(labels: readonly InputRecord[], file: string) {
  const states = new Map<string, string | object>();
  for (const record of labels) {
    if (!("state" in fieldsOf(record.value))) continue;
    const { id, state } = toState(record, file);
    if (!states.has(id)) states.set(id, state);
  }
  if (states.size > 0) return { states, questions: null };
  throw new CliError(
    printable`The labels of ${file} hold no state; name the file of the records with --states.`,
  );
}
