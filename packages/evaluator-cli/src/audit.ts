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
export async function audit(name: string, options: AuditOptions, context: CliContext) {
  const { question: questions } = options;
  const labels = await readLabels(options.labels, context);
  const ids = new Set(labels.records.map(({ value }) => String(listFields(value)["id"])));
  const files = options.artifact ?? [];
  const artifacts = await Promise.all(files.map((file) => readCalibration(file, null, context)));
  const isWanted = (id: string) => ids.has(id);
  const table = await readActs(name, context, { isWanted, isFitted: findFitted(artifacts) });
  for (const question of questions ?? []) checkName("question", question, table.questions);
  const columns = table.columns.filter(({ question }) => questions?.includes(question) ?? true);
  if (columns.length === 0) {
    const of = printable`${name} holds no act on ${(questions ?? []).join(", ")}`;
    throw tooLittleEvidence(`${of}.`);
  }
  checkArtifacts(artifacts, options, columns);
  const promisedQuestions = columns.map(({ question }) => question);
  const about = { labels, artifacts, promisedQuestions, about: "an act" };
  const { join, notes } = joinNewLabels(table, { ...options, questions, ...about });
  const tests = columns.flatMap((column) => {
    const joinedColumn = join.columns.find((one) => one.column === column);
    return promiseTests(column, joinedColumn);
  });
  // The lines of a call share its doubt.
  const checks = checkThresholds(tests.map(({ test }) => test));
  const audits = checks.map((check, at) => toAudit(tests[at] as (typeof tests)[number], check));
  const counts = table.questions.map((question) => join.countsOf(question));
  const remainingCount = counts.reduce((sum, { labelledWithoutAnswer: n }) => sum + n, 0);
  const rest =
    remainingCount === 0
      ? []
      : [`Left out: ${printCounted(remainingCount, "label")} of records without an act.`];
  const unfair = checks.some(({ verdict }) => verdict === "no fair draw") ? [NO_FAIR_DRAW] : [];
  for (const note of [...notes, ...rest, ...describeRepeats(join.columns), ...unfair])
    context.stderr.write(`${note}\n`);
  const isJson = options.json === true;
  context.stdout.write(
    isJson ? `${JSON.stringify(audits, null, 2)}\n` : paintVerdicts(describe(audits), context),
  );
  context.exitCode = computeExitCode(audits);
}

/** @throws CliError if no act rests on a calibration that is given. */
function checkArtifacts(
  artifacts: readonly CalibrationArtifact[],
  { artifact: files = [] }: AuditOptions,
  columns: readonly ActColumn[],
): void {
  const hashes = new Set(columns.map(({ source }) => source.modelId));
  const at = artifacts.findIndex((artifact) => !hashes.has(artifactHash(artifact)));
  if (at === -1) return;
  throw new CliError(
    printable`No act is of ${files[at] ?? ""}; give the calibration that act used.`,
  );
}

function promiseTests(column: ActColumn, joinedColumn: JoinedColumn | undefined) {
  const { question, source, acts, promises, isOfOptions } = column;
  return [...promises]
    .slice(0, isOfOptions ? 1 : 2)
    .map(([act, { evidence, printed: printedValues }]) => {
      const isTaken = (id: string) => isOfOptions || acts[column.rowOf(id) as number] === act;
      const none = { p: [], cameTrue: [] };
      const rows =
        joinedColumn === undefined ? none : toLabelledRows(joinedColumn, isTaken).testedRows;
      // Each value is how sure the answer is of its act, whichever it is.
      const { threshold, maxRisk, confidence } = evidence;
      const bound = { threshold, maxRisk, confidence };
      const lockedThreshold = { ...bound, question, action: "yes", n: 0, wrong: 0 } as const;
      const all = isOfOptions
        ? [...promises.values()].flatMap((one) => one.printed)
        : printedValues;
      const test: ThresholdTest = { locked: lockedThreshold, rows, all };
      const about = { artifact: source.modelId ?? "", question, action: isOfOptions ? "top" : act };
      return { about: Object.assign(about, bound), test };
    });
}

function toAudit(
  { about }: ReturnType<typeof promiseTests>[number],
  { n, wrong, low, high, atLeast, atMost, verdict }: ReturnType<typeof checkThresholds>[number],
) {
  return Object.assign(about, { n, wrong, low, high, atLeast, atMost, verdict });
}

function describe(audits: readonly ReturnType<typeof toAudit>[]): string {
  const hasSeveral = new Set(audits.map(({ artifact }) => artifact)).size > 1;
  const lines = audits.map((audit) => {
    const { artifact, question, action, verdict, n, wrong } = audit;
    const by = hasSeveral ? ` (calibration ${artifact})` : "";
    const verdictText = verdict === "holds" ? "kept" : verdict;
    return printable`${question} ${action}${by}: ${verdictText}, ${printCount(wrong)} wrong of ${printCount(n)} ${describeTestedRisk(audit)}`;
  });
  return `${lines.join("\n")}\n`;
}
