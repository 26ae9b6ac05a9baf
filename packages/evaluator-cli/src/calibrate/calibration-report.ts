import {
  type CurveReport,
  type JoinedColumn,
  type LabelJoin,
  type PlannedPromise,
  type QuestionReport,
  reportQuestions,
  reportSteps,
  type StepReport,
  toLabelledRows,
} from "evaluator-calibration/reports";
import { printCount, printCounted } from "evaluator-runs/source";
import { toPrintablePath, percent, percentRange } from "evaluator-kit";
import { nameModel } from "evaluator-calibration";
import type { CalibrateOptions } from "../commands/report-commands.ts";
import type { readAnswers, readRecords } from "../read-files.ts";
import {
  describeBasis,
  describeBlank,
  describeJoin,
  describeRange,
  describeWorth,
  describeYes,
  listReportWords,
  nameSource,
  nameThreshold,
  summarize,
} from "../report/sentences.ts";
import { describeOrigin, describeRepeat } from "../report/repeat-sentences.ts";

/** The content of `report.json`: the numbers of the page. */
export type CalibrationReport = Awaited<ReturnType<typeof buildReport>>;

/** The answers and labels of a report. */
interface ReportInput {
  readonly answers: Awaited<ReturnType<typeof readAnswers>>;
  readonly join: LabelJoin;
  readonly labelsFile: Awaited<ReturnType<typeof readRecords>>;
  /** The promises that labels were drawn for one by one. */
  readonly planned: readonly PlannedPromise[];
}

/** Returns the report of everything that was joined. */
export async function buildReport(
  { answers, join, labelsFile, planned: plans }: ReportInput,
  { model, seed, require: typedRisk, confidence, ...options }: CalibrateOptions,
) {
  const { table } = answers;
  const maxRisk = typedRisk ?? plans[0]?.plan.maxRisk ?? 0.05;
  const isOfModel = ({ column }: JoinedColumn) =>
    model === undefined || column.source.modelId === model;
  const joinedColumn = join.columns
    .filter(({ truth }) => truth.some((one) => one >= 0))
    .filter(isOfModel);
  const drawnOnly = join.drawn
    .filter(({ column }) => !joinedColumn.some((one) => one.column === column))
    .filter(isOfModel);
  // The source with the most labels first; its questions stay in their order.
  const most = joinedColumn.toSorted((one, other) => other.rows.length - one.rows.length);
  const rows = [
    ...most.map((column) => toLabelledRows(column)),
    ...drawnOnly.map((column) => toLabelledRows(column, () => false)),
  ];
  const reports = reportQuestions(rows, {
    seed,
    maxRisk,
    confidence,
    planned: plans,
    actions: options.action,
    costs: options.cost ?? null,
    onAverage: options.onAverage === true,
    isOnePer: options.onePer !== undefined,
    hasGroups: options.by !== undefined,
  }).map((report) => Object.assign(report, { sentence: summarize(report) }));
  const steps = reportSteps(table, join);
  const worst = new Set(reports.flatMap((report) => report.worst.map(({ id }) => id)));
  return {
    version: 1,
    files: { labels: labelsFile, answers: answers.files },
    seed,
    maxRisk,
    confidence,
    /** Whether plans have the whole level, so that nothing is left for other acts. */
    isLevelSpent:
      plans.reduce((remainingCount, { level }) => remainingCount - level, 1 - confidence) < 1e-9,
    join: table.questions.map((question) => Object.assign({ question }, join.countsOf(question))),
    /** Rows of the labels file without a truth. */
    blankLabels: join.blank,
    notes: [
      ...stepNotes(steps, table.stepCosts),
      ...mixtureNotes(reports),
      ...listNotices(reports),
      ...overrideNotes(join.overrides),
    ],
    /** What each model did, if several were asked one after the other. */
    steps,
    /** One report for each source and question. */
    reports,
    /** With --with-text: the text of the worst rows by id. */
    texts: options.withText === true ? await answers.textsOf(worst) : null,
  };
}

/** Returns a sentence for each model that was one of several: how much it answered, got wrong and cost. */
function stepNotes(
  steps: readonly StepReport[],
  costs: Awaited<ReturnType<typeof readAnswers>>["table"]["stepCosts"],
): string[] {
  const lines = steps.map(
    ({
      question,
      step,
      modelId,
      asked: askedCount,
      answered: answeredCount,
      labelled: labelledCount,
      wrong,
    }) => {
      const who = nameModel(modelId);
      return `${question}, step ${step} (${who}): asked about ${printCount(askedCount)}, answered ${printCount(answeredCount)}; ${printCount(wrong)} of ${printCount(labelledCount)} labelled answers are wrong.`;
    },
  );
  if (lines.length === 0) return [];
  const sums = costs.map(({ records, costUsd }, at) => {
    const cost = costUsd === null ? "cost unknown" : `$${Number(costUsd.toPrecision(3))}`;
    return `step ${at + 1}: ${cost} for ${printCounted(records, "record")}`;
  });
  return [...lines, `Cost of ${sums.join("; ")}.`];
}

function mixtureNotes(reports: readonly QuestionReport[]): string[] {
  const sources = new Set(reports.map(({ source }) => nameSource(source)));
  if (sources.size < 2) return [];
  const names = [...sources].join("; ");
  return [`The answers have ${sources.size} sources, never mixed: ${names}.`];
}

function overrideNotes(overrides: number): string[] {
  if (overrides === 0) return [];
  return [
    `Left out: ${printCounted(overrides, "label")} that correct the list. Right answers have none.`,
  ];
}

/** Returns the notices about questions, each once. */
function listNotices(reports: readonly QuestionReport[]): string[] {
  const toldParts = reports.flatMap((report) => {
    const { n, source, counts, noPromise, recalibration } = report;
    const failedText = counts.labelledWithoutAnswer === 0 ? null : FAILED_CALLS;
    const drawnText = counts.drawn === 0 ? null : DRAWN_LABELS;
    const all = [
      describeBasis(source.basis),
      describeClusters(report),
      failedText,
      drawnText,
      noPromise,
    ];
    return [...all, n === 0 ? null : recalibration.note].flatMap((text) =>
      text === null ? [] : { text, report },
    );
  });
  const byText = Map.groupBy(toldParts, ({ text }) => text);
  return Array.from(byText, ([text, foundEntry]) => {
    const about = foundEntry.map(({ report }) => report);
    return foundEntry.length === reports.length ? text : `${nameScope(about, reports)}: ${text}`;
  });
}

const DRAWN_LABELS = "Labels drawn for a promise enter no score and show no missed records.";
const FAILED_CALLS =
  "Labels without an answer (the call failed) do not count as wrong, and are seldom random.";

/** Names the sources of some reports, or their questions if these are not all of a source. */
function nameScope(about: readonly QuestionReport[], all: readonly QuestionReport[]): string {
  const sources = new Set(about.map(({ source }) => nameSource(source)));
  const ofSources = all.filter(({ source }) => sources.has(nameSource(source)));
  const isWhole = ofSources.length === about.length;
  return (isWhole ? [...sources] : about.map(({ question }) => question)).join(", ");
}

/** Returns the report in lines for a terminal: the join first, then each question. */
export function printReport(report: CalibrationReport): string {
  const { join, blankLabels, notes, reports } = report;
  const blank = blankLabels === 0 ? [] : [describeBlank(blankLabels)];
  const joinedNames = join
    .filter(({ labelled: labelledCount, drawn: drawnCount }) => labelledCount + drawnCount > 0)
    .map((counts) => describeJoin(counts.question, counts));
  const questions = reports.flatMap((question) => [""].concat(listLines(question, report)));
  const lines = [...joinedNames, ...blank, ...notes, ...questions];
  return `${lines.map(toPrintablePath).join("\n")}\n`;
}

function row(name: string, text: string): string {
  return name.padEnd(18) + text;
}

function listLines(question: QuestionReport, report: CalibrationReport): string[] {
  const words = listReportWords(question, report);
  const lines = [
    ...words.permissions,
    ...question.groups.map(describeGroup),
    row("by", `${words.source}; labels by ${words.labelers}`),
    ...words.labels,
    ...(question.n === 0 ? [] : scoreLines(question, words.rates)),
  ];
  const shownLines = lines.flatMap((line) => (line === null ? [] : [`  ${line}`]));
  return [describeWorth(question), ...shownLines];
}

function scoreLines(question: QuestionReport, rates: string | null): (string | null)[] {
  const { scores, curve, recalibration, form } = question;
  const { skill, accuracy, constant, brier, logLoss } = scores;
  const { heldOut, recalibration: fit } = recalibration;
  const always = `always "${constant.always}":`;
  const scale = form === "probability" ? "" : " (0 to 2)";
  const clippedText = `${printCount(logLoss.clipped)} clipped, ${printCount(logLoss.clippedAndWrong)} of them wrong`;
  return [
    row("skill", `${percent(skill)} (${describeRange(skill)}); ${always} 0 %`),
    row(
      "accuracy",
      `${percent(accuracy)} (${percentRange(accuracy)}); ${always} ${percent(constant.accuracy)}`,
    ),
    row("Brier score", `${brier.toFixed(4)}${scale}; base rate: ${constant.brier.toFixed(4)}`),
    row(
      "log loss",
      `${logLoss.value.toFixed(4)}; base rate: ${constant.logLoss.toFixed(4)}; ${clippedText}`,
    ),
    curve && row("miscalibration", describeMiscalibration(curve)),
    rates && row("answers at 0.5", rates),
    question.yes && row("yes in all", describeYes(question)),
    heldOut &&
      fit &&
      `recalibrated (${fit.kind}): log loss on rows it had not seen ${heldOut.before.toFixed(4)} -> ${heldOut.after.toFixed(4)}`,
  ];
}

function describeMiscalibration({ miscalibration, miscalibrationByChance }: CurveReport): string {
  return `${miscalibration.toFixed(4)}; by chance up to ${miscalibrationByChance.toFixed(4)}`;
}

function describeGroup({
  group,
  n,
  promised: promisedThresholds,
}: QuestionReport["groups"][number]): string {
  const acts = promisedThresholds.map(nameThreshold).join(", ") || "no threshold can be promised";
  return `${group} (${printCount(n)}): ${acts}`;
}

/** Returns how many groups the labels are from, if several are of one, and the columns that may name such groups. */
function describeClusters({ clusters, isOnePer, repeats, copies }: QuestionReport): string | null {
  const rest = isOnePer
    ? "a promise takes one label of each, weighted by its records"
    : "labels of one group are not independent (--one-per group)";
  const lines = [
    ...(clusters === null ? [] : [`your ${describeOrigin(clusters, "group")}; ${rest}`]),
    ...(copies === 0
      ? []
      : [
          `left out: ${printCounted(copies, "label")} of repeated states; one label counts for all of a state`,
        ]),
    ...(isOnePer
      ? []
      : repeats.slice(0, 3).map((repeat) => `your ${describeRepeat(repeat, "--one-per")}`)),
  ];
  return lines.length === 0 ? null : lines.join(". ");
}
