import type { AnswerColumn, LabelledRows, QuestionReport } from "evaluator-calibration/reports";
import { toHundredths } from "evaluator-calibration/statistics";

/** An engine's answers to a question, and their report on the labelled records that all engines answered. */
interface JudgedEngine {
  readonly name: string;
  readonly column: AnswerColumn;
  readonly rows: LabelledRows;
  readonly report: QuestionReport;
}

/** Returns each two engines on one question: their common mistakes, and the acts that they permit together. */
export function pairEngines(engines: readonly JudgedEngine[]) {
  return engines.flatMap((one, at) =>
    engines.slice(at + 1).map((other) => ({
      first: one.name,
      second: other.name,
      mistakes: listMistakes(one.rows, other.rows),
      covered: toCoverage(one, other),
    })),
  );
}

/** Compares rows of the same records in the same order. */
function listMistakes(one: LabelledRows, other: LabelledRows) {
  const counts = { first: 0, second: 0, both: 0 };
  let [all, first, second, both] = [0, 0, 0, 0];
  for (const [row, truth] of one.truth.entries()) {
    const weight = one.weights?.[row] ?? 1;
    const [isFirst, isSecond] = [one.top[row] !== truth, other.top[row] !== truth];
    all += weight;
    if (isFirst) [first, counts.first] = [first + weight, counts.first + 1];
    if (isSecond) [second, counts.second] = [second + weight, counts.second + 1];
    if (isFirst && isSecond) [both, counts.both] = [both + weight, counts.both + 1];
  }
  const spreadWidth = Math.sqrt(first * (all - first) * second * (all - second));
  /** The phi coefficient; null if an engine has no mistake, or only mistakes. */
  const correlation = spreadWidth === 0 ? null : (all * both - first * second) / spreadWidth;
  return { n: one.truth.length, ...counts, correlation };
}

/** Counts the records that both answered, by the acts that the engines' own promises permit. */
function toCoverage(one: JudgedEngine, other: JudgedEngine) {
  const counts = { records: 0, first: 0, second: 0, together: 0, conflicts: 0 };
  for (const [row, id] of one.column.ids.entries()) {
    const match = other.column.rowOf(id);
    if (match === undefined) continue;
    const [mine, theirs] = [promisedAct(one, row), promisedAct(other, match)];
    const isConflict = mine !== null && theirs !== null && mine !== theirs;
    counts.records += 1;
    if (mine !== null) counts.first += 1;
    if (theirs !== null) counts.second += 1;
    if (isConflict) counts.conflicts += 1;
    else if (mine !== null || theirs !== null) counts.together += 1;
  }
  return counts;
}

function promisedAct({ column, report }: JudgedEngine, row: number): string | null {
  const { answer, probability } = findTop(column, row);
  const wantedName = column.form === "probability" ? answer : "top";
  const promisedThreshold = report.actions.find(({ action }) => action === wantedName)?.promised;
  const isSure =
    promisedThreshold && toHundredths(probability) >= toHundredths(promisedThreshold.threshold);
  return isSure ? answer : null;
}

/** Returns the most probable answer of a row, and its probability. */
function findTop({ form, width, values, options }: AnswerColumn, row: number) {
  const isYes = form === "probability";
  const yes = values[row] as number;
  const shares = isYes ? [1 - yes, yes] : values.subarray(row * width, (row + 1) * width);
  const probability = Math.max(...shares);
  // A tie of no and yes counts as yes, as in the report.
  const index = isYes ? shares.lastIndexOf(probability) : shares.indexOf(probability);
  return { answer: options[index] ?? "", probability };
}
