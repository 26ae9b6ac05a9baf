import { type CalibrationArtifact, questionHash } from "evaluator-calibration";
import { compareReleases } from "evaluator-calibration/statistics";
import {
  type AnswerColumn,
  type AnswerTable,
  compareLabelled,
  LabelJoin,
  toLabelledRows,
} from "evaluator-calibration/reports";
import {
  CliError,
  type CliContext,
  exitCodes,
  paintVerdicts,
  printable,
  UsageError,
  percentRange,
  printPValue,
  printSigned,
} from "evaluator-kit";
import { printCount, printCounted, readCalibration } from "evaluator-runs/source";
import type { ReportOptions } from "./commands/report-commands.ts";
import { checkAnswered, readAnswers, readQuestionsFile, readRecords } from "./read-files.ts";
import {
  describeCheck,
  describeOtherQuestions,
  describeRepeats,
  NO_FAIR_DRAW,
} from "./report/check-sentences.ts";
import { nameSource } from "./report/sentences.ts";

type DriftOptions = Omit<ReportOptions<"drift">, "questions">;

/** Compares the answers of two releases. */
export async function drift(
  { questions, ...options }: ReportOptions<"drift">,
  context: CliContext,
): Promise<void> {
  const { calibration, seed } = options;
  if (calibration !== undefined && options.labels === undefined) {
    throw new UsageError("--calibration needs --labels.");
  }
  const [beforeTable, afterTable] = [
    await readRelease(options.before, options, context),
    await readRelease(options.after, options, context),
  ];
  const labelJoins = await joinLabels([beforeTable, afterTable], options, context);
  const artifact =
    calibration === undefined ? null : await readCalibration(calibration, null, context);
  const thresholds = artifact?.thresholds ?? [];
  const columnPairs = listColumnPairs(beforeTable, afterTable);
  const file = await readQuestionsFile(questions, context);
  if (artifact !== null) {
    for (const [, column] of columnPairs)
      refuseOthers(artifact, column, file && questionHash(file));
  }
  const comparisonOptions = { seed, questions: columnPairs.length };
  const comparisons = columnPairs.map((pair) => {
    const [beforeJoined, afterJoined] = pair.map((column, releaseIndex) =>
      labelJoins[releaseIndex]?.columns.find((joinedColumn) => joinedColumn.column === column),
    );
    const labelledComparison =
      beforeJoined === undefined || afterJoined === undefined
        ? null
        : compareLabelled(toLabelledRows(beforeJoined), toLabelledRows(afterJoined), {
            lines: columnPairs.length,
            thresholds,
          });
    const comparison = compareReleases(...pair, {
      ...comparisonOptions,
      labelled: labelledComparison,
    });
    // Other sources of the question, such as recordings among a model's answers.
    const otherColumns = [...beforeTable.columns, ...afterTable.columns].filter(
      (column) => column.question === comparison.question && !pair.includes(column),
    );
    const leftAside = otherColumns.map(({ source, ids }) => ({ source, n: ids.length }));
    return Object.assign(comparison, { leftAside });
  });
  const isJson = options.json === true;
  context.stdout.write(
    isJson
      ? `${JSON.stringify(comparisons, null, 2)}\n`
      : paintVerdicts(comparisons.map(describeComparison).join("\n"), context),
  );
  const doubts = options.labels === undefined ? [] : listDoubts(comparisons, thresholds);
  const repeats =
    options.labels === undefined
      ? describeRepeatedAnswers([beforeTable, afterTable], columnPairs)
      : describeRepeats(labelJoins.flatMap(({ columns }) => columns));
  for (const repeat of repeats) context.stderr.write(`${repeat}\n`);
  for (const doubt of doubts) context.stderr.write(printable`${doubt}` + "\n");
  context.exitCode = computeExitCode(comparisons, doubts);
}

async function readRelease(
  fileNames: readonly string[],
  options: DriftOptions,
  context: CliContext,
) {
  const { table } = await readAnswers(fileNames, options, context);
  checkAnswered(table, fileNames);
  return table;
}

async function joinLabels(
  tables: readonly AnswerTable[],
  { labels, last, allowUnknown }: DriftOptions,
  context: CliContext,
): Promise<readonly LabelJoin[]> {
  // One release may have answered records that the other has not.
  const knows = (recordId: string) => tables.some((table) => table.knows(recordId));
  const labelJoins = tables.map(
    ({ columns, questions, repeats }) =>
      new LabelJoin({ columns, questions, repeats, knows }, { last, allowUnknown }),
  );
  if (labels === undefined) return labelJoins;
  await readRecords(labels, context, (labelRecord) => {
    for (const labelJoin of labelJoins) labelJoin.add(labelRecord, labels);
  });
  return labelJoins;
}

type Pair = [before: AnswerColumn, after: AnswerColumn];

/** Pairs the largest sources of each question, since a release is one model. */
function listColumnPairs(beforeTable: AnswerTable, afterTable: AnswerTable): Pair[] {
  const columnPairs = beforeTable.questions.flatMap((question) => {
    const [beforeColumn, afterColumn] = [
      beforeTable.largest(question),
      afterTable.largest(question),
    ];
    return beforeColumn === undefined || afterColumn === undefined
      ? []
      : [[beforeColumn, afterColumn] satisfies Pair];
  });
  if (columnPairs.length > 0) return columnPairs;
  const [beforeQuestions, afterQuestions] = [beforeTable, afterTable].map(({ questions }) =>
    questions.join(", "),
  );
  throw new CliError(
    printable`The releases have no common question: the first ${beforeQuestions ?? ""}, the second ${afterQuestions ?? ""}.`,
  );
}

/**
 * Returns the columns whose values repeat among the answers of a release. The tests of the values take each answer as independent: of two
 * draws of 300 answers in other threads of ten, 99 of 100 are called changed, and 4 of single answers.
 */
function describeRepeatedAnswers(tables: readonly AnswerTable[], columnPairs: readonly Pair[]) {
  const repeats = tables.flatMap((table, release) =>
    columnPairs.flatMap((pair) => table.repeats.among((pair[release] as AnswerColumn).ids)),
  );
  const sentences = repeats.map(({ column, labels, n }) => {
    const origin = `${printCounted(labels, "answer")} are of ${printCounted(n, "value")} of "${column}"`;
    return printable`${origin}; they may change together, so more differences are due to chance.`;
  });
  return new Set(sentences);
}

/** @throws CliError if the second release's answers may be to other questions than the thresholds were promised for. */
function refuseOthers(
  { questionHash: promisedHash, thresholds }: CalibrationArtifact,
  { question, source }: AnswerColumn,
  askedHash: string | null,
): void {
  if (!thresholds.some((one) => one.question === question)) return;
  const problem = describeOtherQuestions(source.questionHash ?? askedHash, promisedHash);
  if (problem === null) return;
  const answers = printable`The second release's answers to ${question} ${problem}`;
  throw new CliError(`${answers}. Leave --calibration out, or calibrate again.`);
}

type ReleaseComparison = ReturnType<typeof compareReleases>;
type LabelledComparison = NonNullable<ReleaseComparison["labelled"]>;
type LeftAside = Pick<ReleaseComparison["before"], "source" | "n">;

/** Returns why labels show no verdict on a promise, or compare nothing. */
function listDoubts(
  comparisons: readonly ReleaseComparison[],
  thresholds: CalibrationArtifact["thresholds"],
): string[] {
  const labelledComparisons = comparisons.flatMap((comparison) => comparison.labelled ?? []);
  if (labelledComparisons.length === 0) return ["No label has an answer in both releases."];
  const thresholdChecks = labelledComparisons.flatMap(
    (labelledComparison) => labelledComparison.thresholds,
  );
  const verdicts = new Set(thresholdChecks.map(({ verdict }) => verdict));
  const testedThresholds = new Set(thresholdChecks.map(({ locked }) => locked));
  const untestedThresholds = thresholds.filter((threshold) => !testedThresholds.has(threshold));
  const untestedQuestions = new Set(
    untestedThresholds.flatMap(({ question, these }) => (these === undefined ? question : [])),
  );
  return [
    ...(untestedThresholds.some(({ these }) => these !== undefined) ? [OF_THESE_RECORDS] : []),
    ...Array.from(
      untestedQuestions,
      (question) => `The promise on ${question} is not tested: ${NO_LABEL}`,
    ),
    ...(verdicts.has("not enough labels") ? ["Label more records to test the promise."] : []),
    ...(labelledComparisons.some(hasNoVerdict) ? [NO_FAIR_DRAW] : []),
  ];
}

const NO_LABEL = "no label of it has an answer in both releases.";
const OF_THESE_RECORDS = "A promise about exactly some records is not tried on another release.";

function computeExitCode(
  comparisons: readonly ReleaseComparison[],
  doubts: readonly string[],
): number {
  if (comparisons.some(isBroken)) return exitCodes.failed;
  return doubts.length > 0 ? exitCodes.notEnoughEvidence : exitCodes.done;
}

function isBroken({ isChanged, labelled: labelledComparison }: ReleaseComparison): boolean {
  if (labelledComparison === null) return isChanged;
  return (
    labelledComparison.isWorse ||
    labelledComparison.thresholds.some(({ verdict }) => verdict === "broken")
  );
}

/** Returns whether the labels are no fair draw of the records, so that they show no release to be worse. */
function hasNoVerdict({ isFair, thresholds }: LabelledComparison): boolean {
  return !isFair || thresholds.some(({ verdict }) => verdict === "no fair draw");
}

function describeComparison(comparison: ReleaseComparison & { leftAside: LeftAside[] }) {
  const {
    question,
    before,
    after,
    stability,
    kolmogorovSmirnov,
    leastPValue,
    flips,
    labelled: labelledComparison,
  } = comparison;
  const comparisonLines = [
    `${question}: ${comparison.isChanged ? "changed" : "no change shown"}.`,
    `  before   ${nameSource(before.source)}, ${printCounted(before.n, "answer")}`,
    `  after    ${nameSource(after.source)}, ${printCounted(after.n, "answer")}`,
    ...comparison.leftAside.map(
      ({ source, n }) =>
        `  left out ${nameSource(source)}, ${printCounted(n, "answer")}: the largest source of each release is compared`,
    ),
    `  values   stability index ${stability.index.toFixed(4)} (${printPValue(stability.pValue, leastPValue)}), largest distance ${kolmogorovSmirnov.distance.toFixed(3)} (${printPValue(kolmogorovSmirnov.pValue, leastPValue)})`,
    flips === null
      ? "  flipped  the releases share no record"
      : `  flipped  ${printCount(flips.n)} of ${printCount(flips.of)} (${percentRange(flips)})`,
  ];
  if (labelledComparison !== null) {
    const { brierDifference: difference } = labelledComparison;
    comparisonLines.push(
      `  labelled ${printCount(labelledComparison.n)}: only before right ${printCount(labelledComparison.onlyBeforeRight)}, only after right ${printCount(labelledComparison.onlyAfterRight)} (${printPValue(labelledComparison.pValue)})`,
      `  Brier    ${printSigned(difference.mean)} (${printSigned(difference.low)} to ${printSigned(difference.high)}); above 0 the second release is worse`,
      ...labelledComparison.thresholds.map(
        (lockedThreshold) => `  ${describeCheck(lockedThreshold)}`,
      ),
    );
  }
  return `${comparisonLines.map((line) => printable`${line}`).join("\n")}\n`;
}
