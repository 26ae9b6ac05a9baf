import { hash } from "node:crypto";
import {
  type AnswerColumn,
  AnswerTable,
  applyRecalibration,
  basisOf,
  fitRecalibration,
  type InputRecord,
  type JoinedColumn,
  type LabelledRows,
  LabelJoin,
  questionHash,
  type Recalibration,
  toLabelledRows,
} from "evaluator-calibration";
import { type Question, questionKinds } from "evaluator-client";
import { CliError, exitCodes, printable } from "evaluator-kit";
import type { CompareOptions } from "../commands/ask-commands.ts";
import type { Engine } from "../engines/engine.ts";
import { fieldsOf } from "../files/read-records.ts";
import { nameSource } from "../report/sentences.ts";
import type { AskedEngine } from "./ask-engines.ts";
import type { Asked } from "./read-asked.ts";

/** One engine's answers to one question: those of its largest source. */
export interface EngineColumn {
  readonly column: AnswerColumn;
  /** Null without a labelled record. */
  readonly rows: LabelledRows | null;
  /** All its labels, also of rows that are not compared; null without labels. */
  readonly joined: JoinedColumn | null;
  readonly join: LabelJoin;
}

/** An engine's answers by question, joined with the labels; the notes name the omitted answers. */
type JoinedEngine = ReturnType<typeof joinTable>;

/**
 * Joins the labels with made-up answers, so that a wrong label is found before anything is paid.
 *
 * @throws CalibrationInputError with the line of the label.
 */
export function checkLabels(asked: Asked, options: CompareOptions): void {
  const even = Object.entries(asked.questions).map(([id, question]) => {
    const { keys } = keysOf(question);
    return [id, keys.length === 0 ? [0.5] : keys.map(() => 1 / keys.length)] as const;
  });
  const none = { modelId: null, basis: null, flips: null, costUsd: null, ms: 0 };
  const made = { ...none, answers: Object.fromEntries(even) };
  const evaluations = new Map(Array.from(asked.states.keys(), (id) => [id, made]));
  joinPrinted({ engine: asked.engines[0] as Engine, evaluations }, asked, options);
}

/** Returns an engine's answers by question, with --calibrated the fitted ones, joined with the labels. */
export function joinEngine(
  engine: AskedEngine,
  asked: Asked,
  options: CompareOptions,
): JoinedEngine {
  const printed = joinPrinted(engine, asked, options);
  return options.calibrated === true ? recalibrateEngine(printed, asked, options) : printed;
}

function joinPrinted(
  { engine, evaluations }: Pick<AskedEngine, "engine" | "evaluations">,
  asked: Asked,
  options: CompareOptions,
): JoinedEngine {
  const table = new AnswerTable();
  const hashed = questionHash(asked.questions);
  const wire = engine.name;
  for (const [id, { answers, modelId, basis }] of evaluations) {
    const source = { modelId, wire, basis: basis ?? basisOf(modelId, wire), questionHash: hashed };
    for (const [question, values] of Object.entries(answers)) {
      const { kind, keys } = keysOf(asked.questions[question] as Question);
      const options = keys.length === 0 ? ["no", "yes"] : keys;
      const answer = { ids: [id], question, kind, options, values, source };
      table.add(answer, { file: wire, line: 0 });
    }
  }
  for (const id of asked.states.keys()) {
    if (!evaluations.has(id)) table.addFailed(id);
  }
  return joinTable(table, asked.labels, { asked, options });
}

function joinTable(
  table: AnswerTable,
  labels: readonly InputRecord[],
  { asked, options }: { readonly asked: Asked; readonly options: CompareOptions },
) {
  const { last, allowUnknown } = options;
  const questions = Object.keys(asked.questions);
  const join = new LabelJoin(table, { last, allowUnknown, questions });
  for (const record of labels) join.add(record, options.labels ?? "");
  const columns = new Map<string, EngineColumn>();
  const notes = new Set<string>();
  for (const [question, found] of Map.groupBy(table.columns, (column) => column.question)) {
    const [most, ...others] = found.toSorted((one, other) => other.ids.length - one.ids.length);
    if (most === undefined) continue;
    const joined = join.columns.find(({ column }) => column === most) ?? null;
    const rows = joined && toLabelledRows(joined);
    const hasTruth = rows !== null && rows.ids.length > 0;
    columns.set(question, { column: most, rows: hasTruth ? rows : null, joined, join });
    const left = others.reduce((sum, { ids }) => sum + ids.length, 0);
    if (left === 0) continue;
    const compared = `compared are the answers of ${nameSource(most.source)}`;
    notes.add(`${compared}; ${left} of another source are left out, since sources are never mixed`);
  }
  return { columns, notes: [...notes] };
}

function keysOf(question: Question) {
  return { kind: question.type, keys: questionKinds[question.type].keys(question) };
}

/** Whether every engine is fitted on a record: one half by their ids, the same for all engines. */
function isFitted(id: string, seed: number): boolean {
  return (Number.parseInt(hash("sha256", `${seed} ${id}`).slice(0, 2), 16) & 1) === 0;
}

/**
 * Fits an engine's answers on one half of the labelled records, and joins the fitted answers with the
 * labels of the other half.
 *
 * @throws CliError if the labels are too few for a fit.
 */
function recalibrateEngine(
  { columns, notes }: JoinedEngine,
  asked: Asked,
  options: CompareOptions,
): JoinedEngine {
  const table = new AnswerTable();
  // The half of the fit and records without an answer are known, but not compared.
  for (const id of asked.states.keys()) table.addFailed(id);
  for (const engine of columns.values()) {
    const { ids, width, values: printed, question, kind, options: names, source } = engine.column;
    const recalibration = fitTo(engine, options.seed);
    for (const [row, id] of ids.entries()) {
      if (isFitted(id, options.seed)) continue;
      const values = applyRecalibration(
        printed.subarray(row * width, (row + 1) * width),
        recalibration,
      );
      const answer = { ids: [id], question, kind, options: names, values, source };
      table.add(answer, { file: source.wire ?? "", line: 0 });
    }
  }
  const others = asked.labels.filter(
    ({ value }) => !isFitted(String(fieldsOf(value)["id"]), options.seed),
  );
  return { columns: joinTable(table, others, { asked, options }).columns, notes };
}

function fitTo({ column, joined }: EngineColumn, seed: number): Recalibration {
  const fitted = joined && fitRecalibration(toLabelledRows(joined, (id) => isFitted(id, seed)));
  if (fitted?.recalibration != null) return fitted.recalibration;
  const reason = fitted?.note ?? "No record there has a label.";
  const problem = printable`--calibrated fits on one half of the labels. ${column.question}: ${reason}`;
  throw new CliError(`${problem} Label more, or compare without --calibrated.`, {
    exitCode: exitCodes.notEnoughEvidence,
  });
}

type Columns = readonly (EngineColumn | null)[];

const MOST_SHOWN = 12;

/** Returns how far each two engines agree on the records that both answered, and where they do not. */
export function agreementsOf(columns: Columns, names: readonly string[]) {
  const agreements = names.flatMap((first, one) =>
    names.slice(one + 1).flatMap((second, after) => {
      const other = columns[one + 1 + after] ?? null;
      const agreement = agreementOf(columns[one]?.column, other?.column);
      return agreement === null ? [] : [{ first, second, ...agreement }];
    }),
  );
  return { agreements, disagreements: disagreementsOf(columns) };
}

function agreementOf(one: AnswerColumn | undefined, other: AnswerColumn | undefined) {
  if (one === undefined || other === undefined) return null;
  let [n, equal, variation] = [0, 0, 0];
  for (const [row, id] of one.ids.entries()) {
    const match = other.rowOf(id);
    if (match === undefined) continue;
    n += 1;
    if (topOf(one, row).index === topOf(other, match).index) equal += 1;
    variation += variationOf(sharesOf(one, row), sharesOf(other, match));
  }
  // Total variation: 0 if all probabilities are the same, at most 1.
  return n === 0 ? null : { n, equalDecisions: equal / n, meanTotalVariation: variation / n };
}

/** The probability of each option; for a probability of yes: of no and of yes. */
function sharesOf({ form, width, values }: AnswerColumn, row: number): ArrayLike<number> {
  const yes = values[row] as number;
  return form === "probability" ? [1 - yes, yes] : values.subarray(row * width, (row + 1) * width);
}

function topOf(column: AnswerColumn, row: number) {
  const shares = sharesOf(column, row);
  let index = 0;
  for (let i = 1; i < shares.length; i += 1) {
    const [best, here] = [shares[index] as number, shares[i] as number];
    // A tie of no and yes counts as yes, as in the report.
    if (here > best || (here === best && column.form === "probability")) index = i;
  }
  return { index, answer: column.options[index] ?? "", probability: shares[index] as number };
}

function variationOf(one: ArrayLike<number>, other: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < one.length; i += 1) {
    sum += Math.abs((one[i] as number) - (other[i] as number));
  }
  return sum / 2;
}

/** Returns the records with different decisions, the largest total variation first. */
function disagreementsOf(columns: Columns) {
  const ids = new Set(columns.flatMap((column) => column?.column.ids ?? []));
  const found = [...ids].flatMap((id) => {
    const shown = columns.map((column) => {
      const row = column?.column.rowOf(id);
      if (column === null || row === undefined) return null;
      return { ...topOf(column.column, row), shares: sharesOf(column.column, row) };
    });
    const given = shown.filter((answer) => answer !== null);
    if (new Set(given.map(({ index }) => index)).size < 2) return [];
    const variation = Math.max(
      ...given.flatMap((one) => given.map((other) => variationOf(one.shares, other.shares))),
    );
    /** In the order of the engines; null for an engine without an answer. */
    const answers = shown.map((one) => one && { answer: one.answer, probability: one.probability });
    return [{ id, variation, answers }];
  });
  return found
    .toSorted((one, other) => other.variation - one.variation)
    .slice(0, MOST_SHOWN)
    .map((one) => Object.assign(one, { truth: truthOf(one.id, columns) }));
}

function truthOf(id: string, columns: Columns): string | null {
  for (const column of columns) {
    const at = column?.rows?.ids.indexOf(id) ?? -1;
    if (at >= 0) return column?.rows?.options[column.rows.truth[at] as number] ?? null;
  }
  return null;
}
