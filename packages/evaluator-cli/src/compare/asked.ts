import { hash } from "node:crypto";
import {
  type AnswerColumn,
  AnswerTable,
  CalibrationInputError,
  idOf,
  type InputRecord,
  type JoinedColumn,
  type KeptAnswers,
  LabelJoin,
  toLabelledRows,
} from "evaluator-calibration/reports";
import { applyRecalibration, fitRecalibration } from "evaluator-calibration/statistics";
import { type Evaluation, type JsonObject, questionKinds, type Questions } from "evaluator-client";
import { type CliContext, CliError, printable, tooLittleEvidence } from "evaluator-kit";
import type { CompareOptions } from "../commands/ask-commands.ts";
import { emulatedBasis, readEngine } from "../engines/engine.ts";
import { listFields, openJournalReader, readQuestionsFile, readRecords } from "../read-files.ts";
import { nameSource } from "../report/sentences.ts";

type State = string | JsonObject;

/** The options, engines, questions and records of a comparison, and the labels. */
export type Asked = Awaited<ReturnType<typeof readAsked>>;

/** Reads states, questions and labels. @throws an error with the file, the line and the advice. */
export async function readAsked(options: CompareOptions, context: CliContext) {
  const engines = options.engine.map((engineText) => readEngine(engineText, context.env));
  const labels: InputRecord[] = [];
  const labelsFileName = options.labels;
  const labelsFile =
    labelsFileName === undefined
      ? null
      : await readRecords(labelsFileName, context, (record) => labels.push(record));
  const { states, questions: journalQuestions } =
    options.states === undefined
      ? listStates(labels, labelsFileName ?? "")
      : await readStatesFile(options.states, context);
  const questions = (await readQuestionsFile(options.questions, context)) ?? journalQuestions;
  if (questions === null || Object.keys(questions).length === 0) {
    throw new CliError("No questions to ask; name a file with --questions.");
  }
  if (states.size === 0) throw new CliError("No records to ask about.");
  const comparedInput = { options, engines, states, questions, labels, labelsFile };
  checkLabels(comparedInput);
  return comparedInput;
}

/** Returns the states of a file, and its questions if it is a journal. */
async function readStatesFile(statesFileName: string, context: CliContext) {
  const states = new Map<string, State>();
  const readJournal = await openJournalReader(statesFileName, context);
  if (readJournal === null) {
    await readRecords(statesFileName, context, (record) => {
      const { id, state } = toState(record, statesFileName);
      if (states.has(id)) {
        const problem = printable`id "${id}" is listed a second time`;
        throw new CalibrationInputError({ file: statesFileName, line: record.line }, problem);
      }
      states.set(id, state);
    });
    return { states, questions: null };
  }
  const wordings = new Set<Questions>();
  await readJournal((entry) => {
    if (entry.evaluation === null) return;
    states.set(entry.id, entry.state as State);
    wordings.add(entry.questions);
  });
  const [questions = {}, ...otherWordings] = new Map(
    Array.from(wordings, (wording) => [JSON.stringify(wording), wording]),
  ).values();
  if (otherWordings.length === 0) return { states, questions };
  const problem = printable`${statesFileName} holds answers to ${String(otherWordings.length + 1)} wordings of the questions.`;
  throw new CliError(`${problem} Run again to ask the same of all.`);
}

function toState({ line, value }: InputRecord, file: string) {
  const location = { file, line };
  const { id: _, ...otherFields } = listFields(value);
  const id = idOf(listFields(value), location);
  const state = "state" in otherFields ? otherFields["state"] : otherFields;
  if (typeof state === "string" || (typeof state === "object" && state !== null)) {
    return { id, state: state as State };
  }
  throw new CalibrationInputError(location, "state is neither text nor a JSON object");
}

/** Returns the states in the labels; several labels of one record may repeat its state. */
function listStates(labels: readonly InputRecord[], file: string) {
  const states = new Map<string, State>();
  for (const record of labels) {
    if ((listFields(record.value)["state"] ?? "") === "") continue;
    const { id, state } = toState(record, file);
    if (!states.has(id)) states.set(id, state);
  }
  if (states.size > 0) return { states, questions: null };
  throw new CliError(
    printable`The labels of ${file} hold no state; name the records with --states.`,
  );
}

/** One engine's answers to one question, of its largest source, joined with the labels. */
interface EngineColumn {
  readonly column: AnswerColumn;
  /** Null without a label. */
  readonly joinedColumn: JoinedColumn | null;
}

/** The answers about records by their ids. */
type Evaluations = ReadonlyMap<string, KeptAnswers["evaluation"] & Pick<Evaluation, "headers">>;

/** Joins the labels with made-up answers, so that a wrong label is found before anything is paid. */
function checkLabels(comparedInput: Asked): void {
  const evenAnswers = Object.entries(comparedInput.questions).map(([id, question]) => {
    const { type } = question;
    const evenShares = questionKinds[type]
      .keys(question)
      .map((key, _, allKeys) => [key, 1 / allKeys.length]);
    const isListed = evenShares.length > 0;
    const answer = isListed
      ? { probabilities: Object.fromEntries(evenShares) }
      : { probability: 0.5 };
    return [id, { type, ...answer }];
  });
  const evenEvaluation = { answers: Object.fromEntries(evenAnswers), modelId: null, headers: {} };
  joinPrinted(
    "",
    new Map(Array.from(comparedInput.states.keys(), (id) => [id, evenEvaluation])),
    comparedInput,
  );
}

/** Returns an engine's answers by question, with --calibrated the fitted ones, joined with the labels. */
export function joinEngine(name: string, evaluations: Evaluations, comparedInput: Asked) {
  const printedAnswers = joinPrinted(name, evaluations, comparedInput);
  return comparedInput.options.calibrated === true
    ? recalibrateEngine(printedAnswers, comparedInput)
    : printedAnswers;
}

function joinPrinted(wire: string, evaluations: Evaluations, comparedInput: Asked) {
  const answerTable = new AnswerTable();
  const { questions } = comparedInput;
  for (const [id, evaluation] of evaluations) {
    const basis = emulatedBasis(evaluation.headers);
    answerTable.addEvaluation({ id, questions, wire, evaluation, basis }, { file: wire });
  }
  for (const id of comparedInput.states.keys()) {
    if (!evaluations.has(id)) answerTable.addFailed(id);
  }
  return joinTable(answerTable, comparedInput.labels, comparedInput);
}

/** Returns a table's answers by question; the notes name the omitted answers. */
function joinTable(answerTable: AnswerTable, labels: readonly InputRecord[], comparedInput: Asked) {
  const { last, allowUnknown, labels: file = "" } = comparedInput.options;
  const questions = Object.keys(comparedInput.questions);
  for (const [id, state] of comparedInput.states) {
    if (typeof state !== "string") answerTable.repeats.add(id, state);
  }
  const labelJoin = new LabelJoin(answerTable, { last, allowUnknown, questions });
  for (const record of labels) labelJoin.add(record, file);
  const columns = new Map<string, EngineColumn>();
  const notes = new Set<string>();
  for (const [question, questionColumns] of Map.groupBy(
    answerTable.columns,
    (column) => column.question,
  )) {
    const [column, ...otherColumns] = questionColumns.toSorted(
      (one, other) => other.ids.length - one.ids.length,
    );
    if (column === undefined) continue;
    const joinedColumn = labelJoin.columns.find((one) => one.column === column) ?? null;
    columns.set(question, { column, joinedColumn });
    const remainingCount = otherColumns.reduce((total, { ids }) => total + ids.length, 0);
    if (remainingCount === 0) continue;
    const comparedText = `compared are the answers of ${nameSource(column.source)}`;
    notes.add(
      `${comparedText}; ${remainingCount} of another source are left out: sources are never mixed`,
    );
  }
  return { columns, notes: [...notes] };
}

/** Whether every engine is fitted on a record: one half by their ids, the same for all engines. */
function isFitted(recordId: string, seed: number): boolean {
  return (Number.parseInt(hash("sha256", `${seed} ${recordId}`).slice(0, 2), 16) & 1) === 0;
}

/** Fits an engine's answers on one half of the labels, and joins the fitted answers with the other half. */
function recalibrateEngine({ columns, notes }: ReturnType<typeof joinTable>, comparedInput: Asked) {
  const { seed } = comparedInput.options;
  const fittedTable = new AnswerTable();
  // The half of the fit and records without an answer are known, but not compared.
  for (const id of comparedInput.states.keys()) fittedTable.addFailed(id);
  for (const { column, joinedColumn } of columns.values()) {
    const {
      ids,
      width,
      values: printedValues,
      question,
      kind,
      options: optionNames,
      source,
    } = column;
    const fitResult =
      joinedColumn && fitRecalibration(toLabelledRows(joinedColumn, (id) => isFitted(id, seed)));
    const recalibration = fitResult?.recalibration ?? null;
    if (recalibration === null) throw noFit(question, fitResult?.note ?? "No record has a label.");
    for (const [rowIndex, id] of ids.entries()) {
      if (isFitted(id, seed)) continue;
      const printedRow = printedValues.subarray(rowIndex * width, (rowIndex + 1) * width);
      const values = applyRecalibration(printedRow, recalibration);
      const answer = { ids: [id], question, kind, options: optionNames, values, source };
      fittedTable.add(answer, { file: source.wire ?? "", line: 0 });
    }
  }
  const heldOutLabels = comparedInput.labels.filter(
    ({ value }) => !isFitted(String(listFields(value)["id"]), seed),
  );
  return { columns: joinTable(fittedTable, heldOutLabels, comparedInput).columns, notes };
}

function noFit(question: string, reason: string): CliError {
  const problem = printable`--calibrated fits on half of the labels. ${question}: ${reason}`;
  return tooLittleEvidence(`${problem} Label more, or compare without --calibrated.`);
}
