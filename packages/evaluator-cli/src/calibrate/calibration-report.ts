import {
  type CalibrationArtifact,
  type JoinedColumn,
  type LabelJoin,
  type QuestionReport,
  reportQuestions,
} from "evaluator-calibration";
import type { CalibrateOptions } from "../commands/report-commands.ts";
import { hashOfId } from "../files/read-json-files.ts";
import type { readAnswers } from "../files/read-answers.ts";
import type { ReadFile } from "../files/read-records.ts";
import { nameSource, summarize } from "../report/sentences.ts";

/** The content of `report.json`: the numbers of the page. */
export type CalibrationReport = ReturnType<typeof buildReport>;

/** The answers and labels of a report. */
interface ReportInput {
  readonly answers: Awaited<ReturnType<typeof readAnswers>>;
  readonly join: LabelJoin;
  readonly labelsFile: ReadFile;
}

/** The options of a report, as its arithmetic takes them. */
type ReportOptions = ReturnType<typeof toReportOptions>;

/** Returns the options of a report from the typed ones. */
export function toReportOptions(typed: CalibrateOptions) {
  const { action: actions } = typed;
  return {
    ...typed,
    maxRisk: typed.require ?? 0.05,
    questions: typed.question ?? actions?.map(({ question }) => question),
    actions,
    costs: typed.cost ?? null,
    onAverage: typed.onAverage === true,
    isOnePer: typed.onePer !== undefined,
    hasGroups: typed.by !== undefined,
  };
}

/** Returns the report of everything that was joined. */
export function buildReport(input: ReportInput, options: ReportOptions) {
  const { answers, join, labelsFile } = input;
  const { table, noun } = answers;
  const joined = join.columns.filter(
    ({ column, truth }) =>
      truth.some((one) => one >= 0) &&
      (options.model === undefined || column.source.modelId === options.model),
  );
  // The source with the most labels first; its questions stay in their order.
  const most = joined.toSorted((one, other) => other.rows.length - one.rows.length);
  const reported = most.map((column) => ({ joined: column, join }));
  const reports = reportQuestions(reported, options).map((report) =>
    Object.assign(report, { sentence: summarize(report, noun) }),
  );
  const worst = new Set(reports.flatMap((report) => report.worst.map(({ id }) => id)));
  return {
    version: 1,
    /** A name for the records, such as `mails`. */
    noun,
    files: { labels: labelsFile, answers: answers.files },
    seed: options.seed,
    maxRisk: options.maxRisk,
    confidence: options.confidence,
    join: table.questions.map((question) => Object.assign({ question }, join.countsOf(question))),
    /** Rows of the labels file without a truth. */
    blankLabels: join.blank,
    notes: [...table.notes, ...mixtureNotes(reports)],
    /** One report for each source and question. */
    reports,
    /** With --with-text: the text of the worst rows by id. */
    texts: options.withText === true ? answers.textsOf(worst) : null,
  };
}

function mixtureNotes(reports: readonly QuestionReport[]): string[] {
  const sources = new Set(reports.map(({ source }) => nameSource(source)));
  if (sources.size < 2) return [];
  const names = [...sources].join("; ");
  return [`The answers come from ${sources.size} sources, which are never mixed: ${names}.`];
}

/**
 * Returns the artifact of a report: null if it has no threshold and no recalibration, a text if these
 * are of several sources. `asked` is the hash of the questions, for answers that do not keep it.
 */
export function toArtifact(
  { reports, files }: CalibrationReport,
  { answers: { table }, join }: Pick<ReportInput, "answers" | "join">,
  asked: string | null,
): CalibrationArtifact | string | null {
  const useful = reports.filter(
    ({ actions, recalibration }) =>
      recalibration.recalibration !== null || actions.some(({ promised }) => promised !== null),
  );
  const [first] = useful;
  if (first === undefined) return null;
  const { source } = first;
  if (useful.some((report) => JSON.stringify(report.source) !== JSON.stringify(source))) {
    return "No calibration.json was written: it holds for one source. Choose one with --model or --answers.";
  }
  const fitted = useful.filter(({ recalibration }) => recalibration.recalibration !== null);
  const kept = new Set(useful.map(({ question }) => question));
  const labelled = join.columns.filter(
    ({ column }) => kept.has(column.question) && column.source === source,
  );
  const labelers = new Set(useful.flatMap((report) => report.labelers.map(({ name }) => name)));
  const rest = {
    version: 2 as const,
    model: { id: source.modelId, wire: source.wire },
    questionHash: source.questionHash ?? asked,
    rounding: { probabilityDecimals: 2 },
    fittedOn: {
      n: Math.max(...useful.map(({ n }) => n)),
      ...table.days,
      hash: files.labels.sha256,
      ids: hashesOf(idsOf(labelled)),
      skipped: labelled.reduce((sum, { truth }) => sum + truth.filter((one) => one < 0).length, 0),
      labelers: labelers.size,
    },
    heldOut: meanHeldOut(fitted),
    thresholds: useful.flatMap(({ actions }) => actions.flatMap(({ promised }) => promised ?? [])),
  };
  const recalibrations = fitted.flatMap(({ question, recalibration: { recalibration } }) =>
    recalibration === null ? [] : [[question, recalibration] as const],
  );
  const [one, another] = recalibrations;
  if (one === undefined) return { ...rest, kind: "none", parameters: {} };
  const [question, recalibration] = one;
  return another === undefined
    ? { ...rest, ...recalibration, question }
    : { ...rest, kind: "by-question", parameters: Object.fromEntries(recalibrations) };
}

function* idsOf(labelled: readonly JoinedColumn[]): Generator<string> {
  for (const { column, rows } of labelled) {
    for (const row of rows) yield column.ids[row] ?? "";
  }
}

const MOST_IDS = 10_000;

/** Returns the sorted hashes of the first 10,000 labelled ids. */
function hashesOf(ids: Iterable<string>): string[] {
  const kept = new Set<string>();
  for (const id of ids) {
    // A million hashes take as long as the whole report.
    if (kept.size === MOST_IDS) break;
    kept.add(hashOfId(id));
  }
  return [...kept].toSorted();
}

function meanHeldOut(reports: readonly QuestionReport[]): CalibrationArtifact["heldOut"] {
  const losses = reports.flatMap(({ recalibration }) => recalibration.heldOut ?? []);
  if (losses.length === 0) return null;
  return {
    before: meanOf(losses.map(({ before }) => before)),
    after: meanOf(losses.map(({ after }) => after)),
  };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
