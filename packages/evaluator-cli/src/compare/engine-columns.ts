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

/** Returns an engine's answers by question, joined with the labels. */
export function joinEngine(
  { engine, evaluations }: AskedEngine,
  asked: Asked,
  options: CompareOptions,
): JoinedEngine {
  const table = new AnswerTable();
  const hashed = questionHash(asked.questions);
  const wire = engine.name;
  for (const [id, { answers, modelId, basis }] of evaluations) {
    const source = { modelId, wire, basis: basis ?? basisOf(modelId, wire), questionHash: hashed };
    for (const [question, values] of Object.entries(answers)) {
      const { kind, names } = optionsOf(asked.questions[question] as Question);
      const answer = { ids: [id], question, kind, options: names, values, source };
      table.add(answer, { file: wire, line: 0 });
    }
  }
  for (const id of asked.states.keys()) {
    if (!evaluations.has(id)) table.addFailed(id);
  }
  return joinTable(table, asked.labels, { asked, options });
}

function optionsOf(question: Question) {
  const keys = questionKinds[question.type].keys(question);
  return { kind: question.type, names: keys.length === 0 ? ["no", "yes"] : keys };
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
    if (left > 0) notes.add(describeOthers(most, left));
  }
  return { columns, notes: [...notes] };
}

function describeOthers({ source }: AnswerColumn, left: number): string {
  return `compared are the answers of ${nameSource(source)}; ${left} of another source are left out, since sources are never mixed`;
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
export function recalibrateEngine(
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
