import { artifactHash, type CalibrationArtifact } from "evaluator-calibration";
import { checkThresholds, type ThresholdTest } from "evaluator-calibration/statistics";
import { type JoinedColumn, toLabelledRows } from "evaluator-calibration/reports";
import {
  checkName,
  CliError,
  type CliContext,
  paintVerdicts,
  printable,
  tooLittleEvidence,
} from "evaluator-kit";
import {
  describeTestedRisk,
  findFitted,
  printCount,
  printCounted,
  readCalibration,
} from "evaluator-runs/source";
import { computeExitCode } from "./check.ts";
import type { ReportOptions } from "./commands/report-commands.ts";
import { joinNewLabels, readLabels } from "./new-labels.ts";
import { readActs } from "./read-acts.ts";
import { listFields } from "./read-files.ts";
import { describeRepeats, NO_FAIR_DRAW } from "./report/check-sentences.ts";

type ActColumn = Awaited<ReturnType<typeof readActs>>["columns"][number];
type AuditOptions = ReportOptions<"audit">;

/** Tests on later labels whether the promises that acts rest on were kept. */
export async function audit(actsFileName: string, options: AuditOptions, context: CliContext) {
  const { question: questions } = options;
  const labels = await readLabels(options.labels, context);
  const labelledIds = new Set(labels.records.map(({ value }) => String(listFields(value)["id"])));
  const artifactFiles = options.artifact ?? [];
  const artifacts = await Promise.all(
    artifactFiles.map((artifactFile) => readCalibration(artifactFile, null, context)),
  );
  const isWanted = (recordId: string) => labelledIds.has(recordId);
  const actTable = await readActs(actsFileName, context, {
    isWanted,
    isFitted: findFitted(artifacts),
  });
  for (const question of questions ?? []) checkName("question", question, actTable.questions);
  const actColumns = actTable.columns.filter(
    ({ question }) => questions?.includes(question) ?? true,
  );
  if (actColumns.length === 0) {
    const problem = printable`${actsFileName} holds no act on ${(questions ?? []).join(", ")}`;
    throw tooLittleEvidence(`${problem}.`);
  }
  checkArtifacts(artifacts, options, actColumns);
  const promisedQuestions = actColumns.map(({ question }) => question);
  const newLabelsInput = { labels, artifacts, promisedQuestions, about: "an act" };
  const { join, notes } = joinNewLabels(actTable, { ...options, questions, ...newLabelsInput });
  const promiseTests = actColumns.flatMap((column) => {
    const joinedColumn = join.columns.find((candidate) => candidate.column === column);
    return listPromiseTests(column, joinedColumn);
  });
  // The lines of a call share its doubt.
  const thresholdChecks = checkThresholds(promiseTests.map(({ test }) => test));
  const audits = thresholdChecks.map((thresholdCheck, index) =>
    toAudit(promiseTests[index] as (typeof promiseTests)[number], thresholdCheck),
  );
  const labelCounts = actTable.questions.map((question) => join.countsOf(question));
  const remainingCount = labelCounts.reduce(
    (total, { labelledWithoutAnswer: unansweredCount }) => total + unansweredCount,
    0,
  );
  const leftOutNotes =
    remainingCount === 0
      ? []
      : [`Left out: ${printCounted(remainingCount, "label")} of records without an act.`];
  const unfairNotes = thresholdChecks.some(({ verdict }) => verdict === "no fair draw")
    ? [NO_FAIR_DRAW]
    : [];
  for (const note of [...notes, ...leftOutNotes, ...describeRepeats(join.columns), ...unfairNotes])
    context.stderr.write(`${note}\n`);
  const isJson = options.json === true;
  context.stdout.write(
    isJson
      ? `${JSON.stringify(audits, null, 2)}\n`
      : paintVerdicts(describeAudits(audits), context),
  );
  context.exitCode = computeExitCode(audits);
}

/** @throws CliError if no act rests on a calibration that is given. */
function checkArtifacts(
  artifacts: readonly CalibrationArtifact[],
  { artifact: artifactFiles = [] }: AuditOptions,
  columns: readonly ActColumn[],
): void {
  const usedHashes = new Set(columns.map(({ source }) => source.modelId));
  const unusedIndex = artifacts.findIndex((artifact) => !usedHashes.has(artifactHash(artifact)));
  if (unusedIndex === -1) return;
  throw new CliError(
    printable`No act is of ${artifactFiles[unusedIndex] ?? ""}; give the calibration that act used.`,
  );
}

function listPromiseTests(column: ActColumn, joinedColumn: JoinedColumn | undefined) {
  const { question, source, acts, promises, isOfOptions } = column;
  return [...promises]
    .slice(0, isOfOptions ? 1 : 2)
    .map(([act, { evidence, printed: printedValues }]) => {
      const isTaken = (recordId: string) =>
        isOfOptions || acts[column.rowOf(recordId) as number] === act;
      const noRows = { p: [], cameTrue: [] };
      const rows =
        joinedColumn === undefined ? noRows : toLabelledRows(joinedColumn, isTaken).testedRows;
      // Each value is how sure the answer is of its act, whichever it is.
      const { threshold, maxRisk, confidence } = evidence;
      const promiseBound = { threshold, maxRisk, confidence };
      const lockedThreshold = { ...promiseBound, question, action: "yes", n: 0, wrong: 0 } as const;
      const allPrinted = isOfOptions
        ? [...promises.values()].flatMap((promise) => promise.printed)
        : printedValues;
      const test: ThresholdTest = { locked: lockedThreshold, rows, all: allPrinted };
      const subject = {
        artifact: source.modelId ?? "",
        question,
        action: isOfOptions ? "top" : act,
      };
      return { subject: Object.assign(subject, promiseBound), test };
    });
}

function toAudit(
  { subject }: ReturnType<typeof listPromiseTests>[number],
  { n, wrong, low, high, atLeast, atMost, verdict }: ReturnType<typeof checkThresholds>[number],
) {
  return Object.assign(subject, { n, wrong, low, high, atLeast, atMost, verdict });
}

function describeAudits(audits: readonly ReturnType<typeof toAudit>[]): string {
  const hasSeveral = new Set(audits.map(({ artifact }) => artifact)).size > 1;
  const auditLines = audits.map((audit) => {
    const { artifact, question, action, verdict, n, wrong } = audit;
    const calibrationSuffix = hasSeveral ? ` (calibration ${artifact})` : "";
    const verdictText = verdict === "holds" ? "kept" : verdict;
    return printable`${question} ${action}${calibrationSuffix}: ${verdictText}, ${printCount(wrong)} wrong of ${printCount(n)} ${describeTestedRisk(audit)}`;
  });
  return `${auditLines.join("\n")}\n`;
}
