import { CliError, printable, toPrintable } from "evaluator-kit";
import {
  type Answer,
  type AnswerValue,
  type JsonValue,
  type Question,
  questionKinds,
  valuesOf,
  wordingText,
} from "evaluator-client";
import { printCount, printUsd } from "./amounts.ts";
import type { RecordSource } from "./input/record-source.ts";
import type { RunStore } from "./store/run-store.ts";
import type { FileCommand } from "./options.ts";
import { type CalibratedAnswers, calibratedAnswers } from "./calibration.ts";
import type { JournalReader } from "./journal/journal-reader.ts";
import { readJournal } from "./journal/read-journal.ts";
import { fromKeptText } from "./journal/kept-answer.ts";
import { needJournalAddress } from "./journal-address.ts";
import { serviceOfRun, withRuns } from "./workers/open-runs.ts";
import type { ProgramContext } from "./service.ts";
import { alignColumns } from "./columns/table.ts";
import { parseKeptQuestions } from "./journal/kept-questions.ts";

/** Prints everything that the journal keeps about one record. */
export async function explainRecord(
  command: FileCommand<"status"> & { readonly id: string },
  context: ProgramContext,
): Promise<number> {
  const { stdout, source } = context;
  const address = await needJournalAddress({ ...command, takesFile: true }, context);
  const text =
    address.kind === "postgres"
      ? await withRuns(address.url, context, (runs) => describeOfRun(runs, command, source))
      : await readJournal(address.path, (kept) => describeOfFile(kept, command.id, source));
  stdout.write(text);
  return 0;
}

async function describeOfRun(
  runs: RunStore,
  { id, run = null }: { readonly id: string; readonly run?: number | null | undefined },
  { word }: RecordSource,
): Promise<string> {
  const row = await runs.find(id, run);
  if (row === null) throw new CliError(`No run of this database has a ${word} with this id.`);
  const info = await runs.get(row.run);
  const questions = parseKeptQuestions(info.setup.questions);
  const evaluation = row.evaluation === null ? null : fromKeptText(row.evaluation, questions);
  if (evaluation === null && !row.isChanged) {
    throw new CliError(
      printable`There is no answer about this ${word}. ${row.error ?? "None has come yet."}`,
    );
  }
  const state = JSON.parse(row.state) as JsonValue;
  return describeEntry({ id, state, questions, service: serviceOfRun(info), evaluation }, word);
}

function describeOfFile(journal: JournalReader, id: string, { word }: RecordSource): string {
  const entry = journal.find(id, word);
  const artifact = journal.runs().at(-1)?.calibration;
  const { evaluation } = entry;
  const asked = evaluation?.steps ?? [{ modelId: evaluation?.modelId }];
  const isApplied =
    artifact !== undefined &&
    evaluation !== null &&
    asked.some(({ modelId }) => modelId === artifact.model.id);
  return describeEntry(entry, word, isApplied ? calibratedAnswers(evaluation, artifact) : null);
}

type JournalEntry = ReturnType<JournalReader["find"]>;

function describeEntry(
  entry: JournalEntry,
  word: string,
  calibrated: CalibratedAnswers | null = null,
): string {
  const { state, questions, evaluation } = entry;
  const described = Object.entries(questions).map(([id, question]) => {
    const confidence = evaluation?.confidence[id] ?? "not reported";
    const { hasConfidence } = questionKinds[question.type];
    const isChanged = calibrated !== null && calibrated.answers[id] !== calibrated.printed[id];
    const values = valuesIn(question, evaluation?.answers[id]);
    const rows = [
      ...values.slice(0, 1).map((value) => ["answer", summary(value)]),
      ...valuesIn(question, isChanged ? calibrated.answers[id] : undefined)
        .slice(0, 1)
        .map((value) => ["calibrated", summary(value)]),
      ...(hasConfidence ? [["confidence", print(confidence)]] : []),
    ];
    const head = `${toPrintable(id)} (${question.type}): ${toPrintable(wordingText(question.instructions))}\n`;
    const shares = values.flatMap((value) => shareRows(question, value));
    return `${head}${indented(rows)}${indented(shares)}`;
  });
  const head = aligned([[word, toPrintable(entry.id)], ...runRows(entry)]);
  return [head, `state\n${indented(stateRows(state))}`, ...described].join("\n");
}

function valuesIn(question: Question, answer: Answer | undefined): readonly AnswerValue[] {
  return answer === undefined ? [] : valuesOf(question, answer);
}

function runRows({ service: { address, modelId }, evaluation }: JournalEntry): string[][] {
  const asked = [["asked", `${toPrintable(modelId)} through ${toPrintable(address)}`]];
  if (evaluation === null) return [...asked, ["answer", "missing; start the run again"]];
  const { usage, costUsd, timing } = evaluation;
  const cost = costUsd === null ? "not reported" : printUsd(costUsd);
  return [
    ...asked,
    ["model", toPrintable(evaluation.modelId ?? "not reported")],
    ["cost", usage === null ? cost : `${cost} for ${printCount(usage.inputTokens)} tokens`],
    ["time", `${printCount(timing.totalMs)} ms`],
    ["attempts", printCount(timing.attempts)],
  ];
}

function stateRows(state: JsonValue): string[][] {
  if (typeof state !== "object" || state === null) return [[toPrintable(String(state))]];
  return Object.entries(state).map(([key, value]) => [toPrintable(key), print(value)]);
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
    toPrintable(wordingText(text ?? null)),
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
