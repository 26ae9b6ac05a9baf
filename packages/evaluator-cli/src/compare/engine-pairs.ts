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
  return engines.flatMap((firstEngine, engineIndex) =>
    engines.slice(engineIndex + 1).map((secondEngine) => ({
      first: firstEngine.name,
      second: secondEngine.name,
      mistakes: listMistakes(firstEngine.rows, secondEngine.rows),
      covered: toCoverage(firstEngine, secondEngine),
    })),
  );
}

/** Compares rows of the same records in the same order. */
function listMistakes(firstRows: LabelledRows, secondRows: LabelledRows) {
  const counts = { first: 0, second: 0, both: 0 };
  let [totalWeight, firstWeight, secondWeight, bothWeight] = [0, 0, 0, 0];
  for (const [rowIndex, truth] of firstRows.truth.entries()) {
    const weight = firstRows.weights?.[rowIndex] ?? 1;
    const [isFirstWrong, isSecondWrong] = [
      firstRows.top[rowIndex] !== truth,
      secondRows.top[rowIndex] !== truth,
    ];
    totalWeight += weight;
    if (isFirstWrong) [firstWeight, counts.first] = [firstWeight + weight, counts.first + 1];
    if (isSecondWrong) [secondWeight, counts.second] = [secondWeight + weight, counts.second + 1];
    if (isFirstWrong && isSecondWrong)
      [bothWeight, counts.both] = [bothWeight + weight, counts.both + 1];
  }
  const denominator = Math.sqrt(
    firstWeight * (totalWeight - firstWeight) * secondWeight * (totalWeight - secondWeight),
  );
  /** The phi coefficient; null if an engine has no mistake, or only mistakes. */
  const correlation =
    denominator === 0
      ? null
      : (totalWeight * bothWeight - firstWeight * secondWeight) / denominator;
  return { n: firstRows.truth.length, ...counts, correlation };
}

/** Counts the records that both answered, by the acts that the engines' own promises permit. */
function toCoverage(firstEngine: JudgedEngine, secondEngine: JudgedEngine) {
  const counts = { records: 0, first: 0, second: 0, together: 0, conflicts: 0 };
  for (const [firstRow, recordId] of firstEngine.column.ids.entries()) {
    const secondRow = secondEngine.column.rowOf(recordId);
    if (secondRow === undefined) continue;
    const [firstAct, secondAct] = [
      findPromisedAct(firstEngine, firstRow),
      findPromisedAct(secondEngine, secondRow),
    ];
    const isConflict = firstAct !== null && secondAct !== null && firstAct !== secondAct;
    counts.records += 1;
    if (firstAct !== null) counts.first += 1;
    if (secondAct !== null) counts.second += 1;
    if (isConflict) counts.conflicts += 1;
    else if (firstAct !== null || secondAct !== null) counts.together += 1;
  }
  return counts;
}

function findPromisedAct({ column, report }: JudgedEngine, rowIndex: number): string | null {
  const { answer, probability } = findTopAnswer(column, rowIndex);
  const wantedAction = column.form === "probability" ? answer : "top";
  const promisedThreshold = report.actions.find(({ action }) => action === wantedAction)?.promised;
  const isSure =
    promisedThreshold && toHundredths(probability) >= toHundredths(promisedThreshold.threshold);
  return isSure ? answer : null;
}

/** Returns the most probable answer of a row, and its probability. */
function findTopAnswer({ form, width, values, options }: AnswerColumn, rowIndex: number) {
  const isYes = form === "probability";
  const yesShare = values[rowIndex] as number;
  const shares = isYes
    ? [1 - yesShare, yesShare]
    : values.subarray(rowIndex * width, (rowIndex + 1) * width);
  const probability = Math.max(...shares);
  // A tie of no and yes counts as yes, as in the report.
  const topIndex = isYes ? shares.lastIndexOf(probability) : shares.indexOf(probability);
  return { answer: options[topIndex] ?? "", probability };
}
