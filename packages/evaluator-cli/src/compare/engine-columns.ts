import { hash } from "node:crypto";
import {
  type AnswerColumn,
  AnswerTable,
  applyRecalibration,
  basisOf,
  fitRecalibration,
  type JoinedColumn,
  type LabelledRows,
  LabelJoin,
  questionHash,
  type Recalibration,
  type RecordAnswer,
  toLabelledRows,
} from "evaluator-calibration";
import type { Question } from "evaluator-client";
import { CliError, printable, exitCodes } from "evaluator-kit";
import { nameSource } from "../report/sentences.ts";
import type { AskedEngine } from "./ask-engines.ts";
import type { CompareOptions } from "../commands/ask-commands.ts";
import type { Asked } from "./read-asked.ts";

/** One engine's answers to one question: those of the source that gave most of them. */
export interface EngineColumn {
  readonly column: AnswerColumn;
  /** Null where none of its records is labelled. */
  readonly rows: LabelledRows | null;
  /** All labels of it, in whatever rows are compared; null where there are none. */
  readonly joined: JoinedColumn | null;
  readonly join: LabelJoin;
}

/** An engine's answers, joined with the labels. */
export interface JoinedEngine {
  /** By question; a question without answers is missing. */
  readonly columns: ReadonlyMap<string, EngineColumn>;
  /** What was left out. */
  readonly notes: readonly string[];
}

/** Returns an engine's answers by question, joined with the labels. */
export function joinEngine(
  engine: AskedEngine,
  asked: Asked,
  options: CompareOptions,
): JoinedEngine {
  const table = tableOf(engine, asked);
  for (const id of asked.states.keys()) {
    if (!engine.evaluations.has(id)) table.addFailed(id);
  }
  return joinTable(table, asked.labels, { asked, options });
}

function joinTable(
  table: AnswerTable,
  labels: Asked["labels"],
  { asked, options }: { readonly asked: Asked; readonly options: CompareOptions },
): JoinedEngine {
  const join = new LabelJoin(table, {
    last: options.last,
    allowUnknown: options.allowUnknown,
    questions: Object.keys(asked.questions),
  });
  for (const record of labels) join.add(record, options.labels ?? "");
  const columns = new Map<string, EngineColumn>();
  const notes = new Set<string>();
  for (const [question, found] of Map.groupBy(table.columns, (column) => column.question)) {
    const [most, ...others] = found.toSorted((one, other) => other.ids.length - one.ids.length);
    if (most === undefined) continue;
    const joined = join.columns.find(({ column }) => column === most) ?? null;
    const rows = joined === null ? null : toLabelledRows(joined);
    const hasTruth = rows !== null && rows.ids.length > 0;
    columns.set(question, { column: most, rows: hasTruth ? rows : null, joined, join });
    const left = others.reduce((sum, { ids }) => sum + ids.length, 0);
    if (left > 0) notes.add(describeOthers(most, left));
  }
  return { columns, notes: [...notes] };
}

function describeOthers({ source }: AnswerColumn, left: number): string {
  return `compared are the answers of ${nameSource(source)}; ${left} of another source are left out, since sources are never mixed`;
}

function tableOf({ engine, evaluations }: AskedEngine, { questions }: Asked): AnswerTable {
  const table = new AnswerTable();
  const asked = questionHash(questions);
  for (const [id, { answers, modelId, basis }] of evaluations) {
    const wire = engine.name;
    const source = { modelId, wire, basis: basis ?? basisOf(modelId, wire), questionHash: asked };
    for (const [question, values] of Object.entries(answers)) {
      const { type: kind, criteria } = questions[question] as Question;
      const options = kind === "boolean" ? ["no", "yes"] : Object.keys(criteria);
      table.add({ ids: [id], question, kind, options, values, source }, { file: wire, line: 0 });
    }
  }
  return table;
}

/** Returns which records every engine is fitted on: one half by their ids, the same for all. */
function isFitted(id: string, seed: number): boolean {
  return (Number.parseInt(hash("sha256", `${seed} ${id}`).slice(0, 2), 16) & 1) === 0;
}

/**
 * Returns an engine's answers recalibrated by a fit on one half of the labelled records, joined with
 * the labels of the other half.
 *
 * @throws CliError where the labels are too few for a fit.
 */
export function recalibrateEngine(
  { columns, notes }: JoinedEngine,
  asked: Asked,
  options: CompareOptions,
): JoinedEngine {
  const table = new AnswerTable();
  // Known, but not among the compared: the half of the fit, and what was not answered.
  for (const id of asked.states.keys()) table.addFailed(id);
  for (const engine of columns.values()) {
    const { column } = engine;
    const recalibration = fitTo(engine, options.seed);
    for (const [row, id] of column.ids.entries()) {
      if (isFitted(id, options.seed)) continue;
      const printed = column.values.subarray(row * column.width, (row + 1) * column.width);
      const { question, kind, options: names, source } = column;
      const values = applyRecalibration(printed, recalibration);
      const answer: RecordAnswer = { ids: [id], question, kind, options: names, values, source };
      table.add(answer, { file: column.source.wire ?? "", line: 0 });
    }
  }
  const others = asked.labels.filter(({ value }) => {
    const { id } = (typeof value === "object" && value !== null ? value : {}) as { id?: unknown };
    return !isFitted(String(id), options.seed);
  });
  const joined = joinTable(table, others, { asked, options });
  return { columns: joined.columns, notes };
}

function fitTo({ column, joined }: EngineColumn, seed: number): Recalibration {
  const fitted = joined && fitRecalibration(toLabelledRows(joined, (id) => isFitted(id, seed)));
  if (fitted?.recalibration != null) return fitted.recalibration;
  const reason = fitted?.note ?? "No record there has a label.";
  const what = printable`--calibrated fits on one half of the labels. ${column.question}: ${reason}`;
  throw new CliError(`${what} Label more, or compare without --calibrated.`, {
    exitCode: exitCodes.notEnoughEvidence,
  });
}
