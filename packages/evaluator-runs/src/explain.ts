import { CliError, printable, toPrintable } from "evaluator-kit";
import {
  type Answer,
  type AnswerValue,
  type JsonValue,
  type Question,
  questionKinds,
  type Questions,
  valuesOf,
  wordingText,
} from "evaluator-client";
import { printCount, printUsd } from "./amounts.ts";
import type { RecordSource } from "./input/record-source.ts";
import type { StoredRuns } from "./store/stored-runs.ts";
import type { FileCommand } from "./options.ts";
import { type CalibratedAnswers, calibratedAnswers } from "./calibration.ts";
import type { KeptEvaluation } from "./journal/kept-answer.ts";
import { needJournalAddress } from "./journal-address.ts";
import { withStoredRuns } from "./open-store.ts";
import { toInputName } from "./output/paths.ts";
import { storedFactsSchema } from "./run-facts.ts";
import { keptIn, serviceOfRun } from "./workers/open-runs.ts";
import type { ProgramContext, Service } from "./service.ts";
import { alignColumns } from "./columns/table.ts";
import { parseKeptQuestions } from "./journal/kept-questions.ts";

type ExplainCommand = FileCommand<"status"> & { readonly id: string };

/** Prints everything that the journal keeps about one record. */
export async function explainRecord(
  command: ExplainCommand,
  context: ProgramContext,
): Promise<number> {
  const { stdout, source } = context;
  const address = await needJournalAddress(command, context);
  stdout.write(
    await withStoredRuns(address, context, (runs) => describeRecord(runs, command, source)),
  );
  return 0;
}

/** A record, its questions and service, and its answer; null if it was changed after it was written. */
interface ExplainedRecord {
  readonly id: string;
  readonly state: JsonValue;
  readonly questions: Questions;
  readonly service: Service;
  readonly evaluation: KeptEvaluation | null;
}

async function describeRecord(
  runs: StoredRuns,
  { id, run, file }: Pick<ExplainCommand, "id" | "run" | "file">,
  { word }: RecordSource,
): Promise<string> {
  const row = await runs.find(id, run, run === undefined ? toInputName(file) : undefined);
  if (row === null) throw new CliError(`No run of this journal has this id; check it.`);
  const info = await runs.get(row.run);
  const { setup = info.setup } = row;
  const questions = parseKeptQuestions(setup.questions);
  const evaluation = keptIn(row.evaluation, questions);
  if (evaluation === null && !row.isChanged) {
    const why = row.error ?? "None has come yet.";
    throw new CliError(printable`This ${word} has no answer. ${why}`);
  }
  const { calibration: artifact } = storedFactsSchema.parse(JSON.parse(info.facts));
  const steps = evaluation?.steps ?? [{ modelId: evaluation?.modelId }];
  const isApplied =
    artifact !== undefined &&
    evaluation !== null &&
    steps.some(({ modelId }) => modelId === artifact.model.id);
  const record = { id: row.id, questions, service: serviceOfRun({ setup }), evaluation };
  const state = JSON.parse(row.state) as JsonValue;
  const appliedAnswers = isApplied ? calibratedAnswers(evaluation, artifact) : null;
  return describeEntry({ ...record, state }, word, appliedAnswers);
}

function describeEntry(
  entry: ExplainedRecord,
  word: string,
  appliedAnswers: CalibratedAnswers | null = null,
): string {
  const { state, questions, evaluation } = entry;
  const sections = Object.entries(questions).map(([id, question]) => {
    const confidence = evaluation?.confidence[id] ?? "not reported";
    const { hasConfidence } = questionKinds[question.type];
    const isChanged =
      appliedAnswers !== null && appliedAnswers.answers[id] !== appliedAnswers.printed[id];
    const values = valuesIn(question, evaluation?.answers[id]);
    const rows = [
      ...values.slice(0, 1).map((value) => ["answer", summary(value)]),
      ...valuesIn(question, isChanged ? appliedAnswers.answers[id] : undefined)
        .slice(0, 1)
        .map((value) => ["calibrated", summary(value)]),
      ...(hasConfidence ? [["confidence", print(confidence)]] : []),
    ];
    const head = `${toPrintable(id)} (${question.type}): ${toPrintable(wordingText(question.instructions))}\n`;
    const shares = values.flatMap((value) => shareRows(question, value));
    return `${head}${indented(rows)}${indented(shares)}`;
  });
  const head = aligned([[word, toPrintable(entry.id)], ...runRows(entry)]);
  return [head, `state\n${indented(stateRows(state))}`, ...sections].join("\n");
}

function valuesIn(question: Question, answer: Answer | undefined): readonly AnswerValue[] {
  return answer === undefined ? [] : valuesOf(question, answer);
}

function runRows({ service: { address, modelId }, evaluation }: ExplainedRecord): string[][] {
  const askedRows = [["asked", `${toPrintable(modelId)} through ${toPrintable(address)}`]];
  if (evaluation === null) return [...askedRows, ["answer", "missing; start the run again"]];
  const { usage, costUsd, timing } = evaluation;
  const cost = costUsd === null ? "not reported" : printUsd(costUsd);
  return [
    ...askedRows,
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
