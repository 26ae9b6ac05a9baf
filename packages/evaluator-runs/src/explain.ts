import { CliError, printable, toPrintable } from "evaluator-kit";
import {
  type AnswerValue,
  type JsonValue,
  type Question,
  questionKinds,
  type Questions,
  valuesOf,
} from "evaluator-client";
import { printCount, printUsd } from "./amounts.ts";
import type { StatusCommand } from "./options/journal-options.ts";
import { type CalibratedAnswers, calibratedAnswers } from "./calibration.ts";
import type { JournalEntry, JournalReader } from "./journal/journal-reader.ts";
import { readJournal } from "./journal/read-journal.ts";
import { fromKeptText } from "./journal/kept-answer.ts";
import { needJournalAddress } from "./journal-address.ts";
import { withRuns } from "./workers/open-runs.ts";
import { serviceOfRun } from "./workers/run-records.ts";
import type { OpenRuns, ProgramContext } from "./service.ts";
import { alignColumns } from "./columns/table.ts";

/**
 * Prints all that the journal knows of one mail.
 *
 * @throws CliError when that is nothing.
 */
export async function explainRecord(
  command: StatusCommand & { readonly id: string },
  context: ProgramContext,
): Promise<number> {
  const { id, run } = command;
  const { stdout } = context;
  const address = await needJournalAddress({ ...command, takesFile: true }, context);
  if (address.kind === "postgres") {
    stdout.write(await describeOfRun(id, { run, url: address.url, open: context.openRuns }));
    return 0;
  }
  stdout.write(await readJournal(address.path, (kept) => describe(kept, id)));
  return 0;
}

async function describeOfRun(
  id: string,
  { run, url, open }: { run: number | undefined; url: string; open: OpenRuns },
): Promise<string> {
  return await withRuns({ url, open, supervises: false }, async (runs) => {
    const row = await runs.find(id, run ?? null);
    if (row === null) throw new CliError("No run of this database has a mail with this id.");
    const info = await runs.get(row.run);
    const questions = JSON.parse(info.setup.questions) as Questions;
    const evaluation = row.evaluation === null ? null : fromKeptText(row.evaluation, questions);
    if (evaluation === null && !row.isChanged) {
      throw new CliError(
        printable`There is no answer about this mail. ${row.error ?? "None has come yet."}`,
      );
    }
    const state = JSON.parse(row.state) as JsonValue;
    return describeEntry({ id, state, questions, service: serviceOfRun(info), evaluation });
  });
}

function describe(journal: JournalReader, id: string): string {
  const entry = journal.find(id);
  const artifact = journal.runs().at(-1)?.calibration;
  if (artifact === undefined || entry.evaluation === null) return describeEntry(entry);
  const { modelId } = entry.evaluation;
  if (modelId !== artifact.model.id) return describeEntry(entry);
  return describeEntry(entry, calibratedAnswers(entry.evaluation, artifact));
}

/** Returns about one mail what was sent, what was asked, what was answered, by whom and at what price. */
function describeEntry(entry: JournalEntry, calibrated?: CalibratedAnswers): string {
  return [
    aligned([["mail", toPrintable(entry.id)], ...runRows(entry)]),
    `state\n${indented(stateRows(entry))}`,
    ...Object.entries(entry.questions).map(([id, question]) =>
      describeQuestion(id, question, { entry, calibrated }),
    ),
  ].join("\n");
}

function runRows({ service: { address, modelId }, evaluation }: JournalEntry): string[][] {
  const asked = [["asked", `${toPrintable(modelId)} through ${toPrintable(address)}`]];
  if (evaluation === null) return [...asked, ["answer", "not there; run triage again"]];
  const { usage, costUsd, timing } = evaluation;
  const cost = costUsd === null ? "not reported" : printUsd(costUsd);
  return [
    ...asked,
    ["model", toPrintable(evaluation.modelId ?? "not reported")],
    ["cost", `${cost} for ${printCount(usage.inputTokens)} tokens`],
    ["time", `${printCount(timing.totalMs)} ms`],
    ["attempts", printCount(timing.attempts)],
  ];
}

function stateRows({ state }: JournalEntry): string[][] {
  if (typeof state !== "object" || state === null) return [[toPrintable(String(state))]];
  return Object.entries(state).map(([key, value]) => [toPrintable(key), print(value)]);
}

function describeQuestion(
  id: string,
  question: Question,
  {
    entry: { evaluation },
    calibrated,
  }: { entry: JournalEntry; calibrated: CalibratedAnswers | undefined },
): string {
  const answer = evaluation?.answers[id];
  const confidence = evaluation?.confidence[id];
  const head = `${toPrintable(id)} (${question.type}): ${toPrintable(question.instructions)}\n`;
  const values = answer === undefined ? [] : valuesOf(question, answer);
  const rows = values.slice(0, 1).map((value) => ["answer", summary(value)]);
  const changed = calibrated?.printed[id] === undefined ? undefined : calibrated.answers[id];
  const [recalibrated] = changed === undefined ? [] : valuesOf(question, changed);
  if (recalibrated !== undefined) rows.push(["calibrated", summary(recalibrated)]);
  if (questionKinds[question.type].hasConfidence) {
    rows.push(["confidence", print(confidence ?? "not reported")]);
  }
  return `${head}${indented(rows)}${indented(values.flatMap((value) => shareRows(question, value)))}`;
}

function summary(value: AnswerValue): string {
  if (value.form === "option") return toPrintable(value.value);
  if (value.form === "number") return print(Number(value.value.toFixed(4)));
  return value.form === "probability" ? `yes: ${value.value.toFixed(2)}` : print(value.value);
}

function shareRows({ criteria }: Question, value: AnswerValue): string[][] {
  if (value.form !== "distribution") return [];
  return Object.entries(criteria ?? {}).map(([name, text]) => [
    value.value[name]?.toFixed(2) ?? "-",
    toPrintable(name),
    toPrintable(text),
  ]);
}

function indented(rows: readonly string[][]): string {
  return aligned(rows.map((row) => [" ", ...row]));
}

function aligned(rows: readonly string[][]): string {
  return [...alignColumns(() => rows)].join("");
}

function print(value: unknown): string {
  return toPrintable(typeof value === "string" ? value : JSON.stringify(value));
}
