import type { AnswerColumn } from "../input/answer-column.ts";
import { AnswerTable } from "../input/answer-table.ts";
import { type JoinedColumn, LabelJoin } from "../input/join-labels.ts";
import { seededRandom } from "../math/random.ts";
import { type LabelledRows, toLabelledRows } from "../report/labelled-rows.ts";
import { type QuestionReport, reportQuestions } from "../report/question-report.ts";

/** A row of a made world. */
export interface Row {
  readonly id: string;
  readonly p: number;
  readonly truth: boolean;
  readonly more?: object;
}

/** Returns the answers of rows. */
export function answersOf(rows: readonly Row[], modelId = "maker/judge-7"): AnswerTable {
  const table = new AnswerTable();
  for (const [line, { id, p }] of rows.entries()) {
    const value = { id, question: "scam", probability: p, modelId };
    table.addRecord({ line, value }, "answers");
  }
  return table;
}

/** Returns the labels of rows joined with their answers. */
export function joined(rows: readonly Row[], modelId?: string): LabelJoin {
  const join = new LabelJoin(answersOf(rows, modelId));
  for (const [line, { id, truth, more }] of rows.entries()) {
    join.add({ line, value: { id, truth, labeler: "ada", ...more } }, "labels");
  }
  return join;
}

/** Returns rows as a report computes with them. */
export function labelled(rows: readonly Row[], modelId?: string): LabelledRows {
  return toLabelledRows(columnIn(joined(rows, modelId)));
}

/** Returns the one column of labelled rows. */
export function columnIn(join: LabelJoin): JoinedColumn {
  const [column] = join.columns;
  if (column === undefined) throw new Error("no row was joined");
  return column;
}

/** Returns rows whose truth follows `trueAt` of what is printed. */
export function world(n: number, trueAt: (p: number) => number, printed = (u: number) => u): Row[] {
  const random = seededRandom(n);
  return Array.from({ length: n }, (_, index) => {
    const p = Math.round(100 * printed(random())) / 100;
    return { id: `r${index}`, p, truth: random() < trueAt(p) };
  });
}

/** How far the printed log odds are above the true ones, always and by chance. */
interface Noise {
  readonly moved?: number;
  readonly noise?: number;
}

/** Returns an answer and its truth; the true log odds are spread around a mean, those that are printed are moved. */
export function drawAnswer(
  { mean, spread, moved = 0, noise = 0 }: Record<"mean" | "spread", number> & Noise,
  random: () => number,
) {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const odds = mean + spread * normal;
  const p = Math.round(100 * shareOf(odds + moved + noise * normal)) / 100;
  return { p, truth: random() < shareOf(odds) };
}

function shareOf(odds: number): number {
  return 1 / (1 + Math.exp(-odds));
}

/** Returns the one column of the answers of rows. */
export function columnOf(rows: readonly Row[]): AnswerColumn {
  const [column] = answersOf(rows).columns;
  if (column === undefined) throw new Error("no row was answered");
  return column;
}

/** Returns rows with more fields in their labels. */
export function labelledWith(
  rows: readonly Row[],
  moreOf: (index: number) => object,
): readonly Row[] {
  return rows.map(({ id, p, truth }, index) => ({ id, p, truth, more: moreOf(index) }));
}

/** What a report is asked for. */
export const asked: Parameters<typeof reportQuestions>[1] = {
  maxRisk: 0.05,
  confidence: 0.95,
  onAverage: true,
  costs: { falseAct: 5, missedAct: 1 },
  hasGroups: true,
  seed: 1,
};

/** Returns the report of rows. */
export function report(rows: readonly Row[], modelId?: string, options = asked): QuestionReport {
  const join = joined(rows, modelId);
  const [found] = reportQuestions([toLabelledRows(columnIn(join))], options);
  if (found === undefined) throw new Error("no question was reported");
  return found;
}

/** Returns labelled rows of one probability for each option; the options may be levels. */
export function distributionRows(
  P: readonly (readonly number[])[],
  truth: readonly number[],
  { isOrdered }: { readonly isOrdered: boolean },
): LabelledRows {
  const nameOf = (option: number) => (isOrdered ? String(option) : `option ${option}`);
  const table = new AnswerTable();
  for (const [id, row] of P.entries()) {
    const probabilities = Object.fromEntries(row.map((p, option) => [nameOf(option), p]));
    table.addRecord({ line: id, value: { id, question: "tier", probabilities } }, "answers");
  }
  const join = new LabelJoin(table);
  for (const [id, option] of truth.entries()) {
    join.add({ line: id, value: { id, truth: nameOf(option) } }, "labels");
  }
  return toLabelledRows(columnIn(join));
}
