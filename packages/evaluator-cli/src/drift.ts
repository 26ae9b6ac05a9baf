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
    throw new UsageError("--calibration needs --labels to try its thresholds on.");
  }
  const [before, after] = [
    await readRelease(options.before, options, context),
    await readRelease(options.after, options, context),
  ];
  const joins = await joinLabels([before, after], options, context);
  const artifact =
    calibration === undefined ? null : await readCalibration(calibration, null, context);
  const thresholds = artifact?.thresholds ?? [];
  const pairs = listPairs(before, after);
  const file = await readQuestionsFile(questions, context);
  if (artifact !== null) {
    for (const [, column] of pairs) refuseOthers(artifact, column, file && questionHash(file));
  }
  const rest = { seed, questions: pairs.length };
  const comparisons = pairs.map((pair) => {
    const [one, other] = pair.map((column, at) =>
      joins[at]?.columns.find((joinedColumn) => joinedColumn.column === column),
    );
    const labelledCounts =
      one === undefined || other === undefined
        ? null
        : compareLabelled(toLabelledRows(one), toLabelledRows(other), {
            lines: pairs.length,
            thresholds,
          });
    const comparison = compareReleases(...pair, { ...rest, labelled: labelledCounts });
    // Other sources of the question, such as recordings among a model's answers.
    const others = [...before.columns, ...after.columns].filter(
      (column) => column.question === comparison.question && !pair.includes(column),
    );
    const leftAside = others.map(({ source, ids }) => ({ source, n: ids.length }));
    return Object.assign(comparison, { leftAside });
  });
  const isJson = options.json === true;
  context.stdout.write(
    isJson
      ? `${JSON.stringify(comparisons, null, 2)}\n`
      : paintVerdicts(comparisons.map(describe).join("\n"), context),
  );
  const notes = options.labels === undefined ? [] : listDoubts(comparisons, thresholds);
  const joined = joins.flatMap(({ columns }) => columns);
  for (const repeat of describeRepeats(joined)) context.stderr.write(`${repeat}\n`);
  for (const note of notes) context.stderr.write(printable`${note}` + "\n");
  context.exitCode = computeExitCode(comparisons, notes);
}

async function readRelease(names: readonly string[], options: DriftOptions, context: CliContext) {
  const { table } = await readAnswers(names, options, context);
  checkAnswered(table, names);
  return table;
}

async function joinLabels(
  tables: readonly AnswerTable[],
  { labels, last, allowUnknown }: DriftOptions,
  context: CliContext,
): Promise<readonly LabelJoin[]> {
  // One release may have answered records that the other has not.
  const knows = (id: string) => tables.some((table) => table.knows(id));
  const joins = tables.map(
    ({ columns, questions, repeats }) =>
      new LabelJoin({ columns, questions, repeats, knows }, { last, allowUnknown }),
  );
  if (labels === undefined) return joins;
  await readRecords(labels, context, (record) => {
    for (const join of joins) join.add(record, labels);
  });
  return joins;
}

type Pair = [before: AnswerColumn, after: AnswerColumn];

/** Pairs the largest sources of each question, since a release is one model. */
function listPairs(before: AnswerTable, after: AnswerTable): Pair[] {
  const pairs = before.questions.flatMap((question) => {
    const [one, other] = [before.largest(question), after.largest(question)];
    return one === undefined || other === undefined ? [] : [[one, other] satisfies Pair];
  });
  if (pairs.length > 0) return pairs;
  const [one, other] = [before, after].map(({ questions }) => questions.join(", "));
  throw new CliError(
    printable`The two releases answered no common question: the first ${one ?? ""}, the second ${other ?? ""}.`,
  );
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
  throw new CliError(`${answers}. Compare without --calibration, or calibrate again.`);
}

type ReleaseComparison = ReturnType<typeof compareReleases>;
type LabelledComparison = NonNullable<ReleaseComparison["labelled"]>;
type LeftAside = Pick<ReleaseComparison["before"], "source" | "n">;

/** Returns why labels show no verdict on a promise, or compare nothing. */
function listDoubts(
  comparisons: readonly ReleaseComparison[],
  thresholds: CalibrationArtifact["thresholds"],
): string[] {
  const labelled = comparisons.flatMap((comparison) => comparison.labelled ?? []);
  if (labelled.length === 0) return ["No label has an answer in both releases."];
  const checks = labelled.flatMap((one) => one.thresholds);
  const verdicts = new Set(checks.map(({ verdict }) => verdict));
  const tested = new Set(checks.map(({ locked }) => locked));
  const untested = thresholds.filter((one) => !tested.has(one));
  const ofOthers = new Set(
    untested.flatMap(({ question, these }) => (these === undefined ? question : [])),
  );
  return [
    ...(untested.some(({ these }) => these !== undefined) ? [OF_THESE_RECORDS] : []),
    ...Array.from(ofOthers, (question) => `The promise on ${question} is not tested: ${NO_LABEL}`),
    ...(verdicts.has("not enough labels") ? ["Label more records to test the promise."] : []),
    ...(labelled.some(hasNoVerdict) ? [NO_FAIR_DRAW] : []),
  ];
}

const NO_LABEL = "no label of it has an answer in both releases.";
const OF_THESE_RECORDS =
  "A promise about exactly some records holds for the answers that were labelled, so it is not tried on those of another release.";

function computeExitCode(
  comparisons: readonly ReleaseComparison[],
  doubts: readonly string[],
): number {
  if (comparisons.some(isBroken)) return exitCodes.failed;
  return doubts.length > 0 ? exitCodes.notEnoughEvidence : exitCodes.done;
}

function isBroken({ isChanged, labelled: labelledCounts }: ReleaseComparison): boolean {
  if (labelledCounts === null) return isChanged;
  return (
    labelledCounts.isWorse || labelledCounts.thresholds.some(({ verdict }) => verdict === "broken")
  );
}

/** Returns whether the labels are no fair draw of the records, so that they show no release to be worse. */
function hasNoVerdict({ isFair, thresholds }: LabelledComparison): boolean {
  return !isFair || thresholds.some(({ verdict }) => verdict === "no fair draw");
}

function describe(comparison: ReleaseComparison & { leftAside: LeftAside[] }) {
  const {
    question,
    before,
    after,
    stability,
    kolmogorovSmirnov,
    flips,
    labelled: labelledCounts,
  } = comparison;
  const lines = [
    `${question}: ${comparison.isChanged ? "changed" : "no change shown"}.`,
    `  before   ${nameSource(before.source)}, ${printCounted(before.n, "answer")}`,
    `  after    ${nameSource(after.source)}, ${printCounted(after.n, "answer")}`,
    ...comparison.leftAside.map(
      ({ source, n }) =>
        `  left out ${nameSource(source)}, ${printCounted(n, "answer")}: sources are never mixed, and the largest of each release is compared`,
    ),
    `  values   stability index ${stability.index.toFixed(4)} (${printPValue(stability.pValue)}), largest distance ${kolmogorovSmirnov.distance.toFixed(3)} (${printPValue(kolmogorovSmirnov.pValue)})`,
    flips === null
      ? "  flipped  the releases share no record"
      : `  flipped  ${printCount(flips.n)} of ${printCount(flips.of)} (${percentRange(flips)})`,
  ];
  if (labelledCounts !== null) {
    const { brierDifference: difference } = labelledCounts;
    lines.push(
      `  labelled ${printCount(labelledCounts.n)}: only before right ${printCount(labelledCounts.onlyBeforeRight)}, only after right ${printCount(labelledCounts.onlyAfterRight)} (${printPValue(labelledCounts.pValue)})`,
      `  Brier    ${printSigned(difference.mean)} (${printSigned(difference.low)} to ${printSigned(difference.high)}); above 0 the second release is worse`,
      ...labelledCounts.thresholds.map((lockedThreshold) => `  ${describeCheck(lockedThreshold)}`),
    );
  }
  return `${lines.map((line) => printable`${line}`).join("\n")}\n`;
}
