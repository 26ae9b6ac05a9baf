import { resolve } from "node:path";
import {
  type AnswerColumn,
  type AnswerTable,
  type CalibrationArtifact,
  CalibrationInputError,
  compareLabelled,
  compareReleases,
  type InputRecord,
  LabelJoin,
  type ReleaseComparison,
  toLabelledRows,
} from "evaluator-calibration";
import { CliError, type CliContext, printable, UsageError, exitCodes } from "evaluator-kit";
import type { DriftOptions } from "./commands/report-commands.ts";
import { readAnswers } from "./files/read-answers.ts";
import { readArtifact } from "./files/read-artifact.ts";
import { readRecords } from "./files/read-records.ts";
import { describeCheck, nameSource, percent, signed } from "./report/sentences.ts";

/** Compares the answers of two releases. */
export async function drift(options: DriftOptions, context: CliContext): Promise<void> {
  const { labels, calibration, seed, last } = options;
  if (calibration !== undefined && labels === undefined) {
    throw new UsageError("--calibration needs --labels to try its thresholds on.");
  }
  const before = (await readAnswers(options.before, options, context)).table;
  const after = (await readAnswers(options.after, options, context)).table;
  const joins = {
    before: new LabelJoin(before, joinOptions()),
    after: new LabelJoin(after, joinOptions()),
  };
  if (labels !== undefined) {
    const file = { name: labels, path: resolve(context.cwd, labels), csv: true };
    await readRecords(file, context, (record) => {
      if (options.allowUnknown !== true) checkIsKnown(record, { tables: [before, after], labels });
      joins.before.add(record, labels);
      joins.after.add(record, labels);
    });
  }
  const artifact = calibration === undefined ? null : await readArtifact(calibration, context);
  const comparisons = pairsOf(before.columns, after.columns).map(([one, other]) => {
    const comparison = compare(one, other, { joins, artifact, seed });
    const leftAside = [...othersOf(before.columns, one), ...othersOf(after.columns, other)];
    return Object.assign(comparison, { leftAside });
  });
  context.stdout.write(
    options.json === true
      ? `${JSON.stringify(comparisons, null, 2)}\n`
      : comparisons.map(describe).join("\n"),
  );
  if (comparisons.some(isBroken)) context.exitCode = exitCodes.failed;

  function joinOptions() {
    // One release may have answered records that the other has not.
    return { last, allowUnknown: true };
  }
}

/** @throws CalibrationInputError where neither release answered a labelled record. */
function checkIsKnown(
  { line, value }: InputRecord,
  { tables, labels }: { readonly tables: readonly AnswerTable[]; readonly labels: string },
): void {
  if (typeof value !== "object" || value === null || !("id" in value)) return; // rejected later
  const id = String(value.id);
  if (tables.some((table) => table.knows(id))) return;
  const problem = `id ${JSON.stringify(id.slice(0, 60))} is not among the answers of either release`;
  const advice = "--allow-unknown counts such labels instead";
  throw new CalibrationInputError({ file: labels, line }, `${problem}; ${advice}`);
}

/** Pairs the questions of two releases, each of one source. */
function pairsOf(
  before: readonly AnswerColumn[],
  after: readonly AnswerColumn[],
): [AnswerColumn, AnswerColumn][] {
  const pairs = [...new Set(before.map(({ question }) => question))].flatMap((question) => {
    const [one, other] = [onlyOne(before, question), onlyOne(after, question)];
    return one === null || other === null ? [] : [[one, other] as [AnswerColumn, AnswerColumn]];
  });
  if (pairs.length > 0) return pairs;
  throw new CliError("The two releases answered no common question; check the files.");
}

/** The source with the most answers; a release is one model, and stand-ins for it are left aside. */
function onlyOne(columns: readonly AnswerColumn[], question: string): AnswerColumn | null {
  const found = columns.filter((column) => column.question === question);
  return found.toSorted((one, other) => other.ids.length - one.ids.length)[0] ?? null;
}

/** Answers of other sources than the compared one, such as recordings among a model's answers. */
function othersOf(columns: readonly AnswerColumn[], compared: AnswerColumn): LeftAside[] {
  return columns
    .filter((column) => column.question === compared.question && column !== compared)
    .map(({ source, ids }) => ({ source, n: ids.length }));
}

interface LeftAside {
  readonly source: AnswerColumn["source"];
  readonly n: number;
}

interface CompareOptions {
  readonly joins: { readonly before: LabelJoin; readonly after: LabelJoin };
  readonly artifact: CalibrationArtifact | null;
  readonly seed: number;
}

function compare(
  before: AnswerColumn,
  after: AnswerColumn,
  { joins, artifact, seed }: CompareOptions,
): ReleaseComparison {
  const first = joins.before.columns.find(({ column }) => column === before);
  const second = joins.after.columns.find(({ column }) => column === after);
  const labelled =
    first === undefined || second === undefined
      ? null
      : compareLabelled(toLabelledRows(first), toLabelledRows(second), {
          thresholds: artifact?.thresholds ?? [],
          seed,
        });
  return compareReleases(before, after, { seed, labelled });
}

function isBroken({ isChanged, labelled }: ReleaseComparison): boolean {
  if (labelled === null) return isChanged;
  const isWorse = labelled.brierDifference.low > 0;
  const isLessRight = labelled.pValue < 0.05 && labelled.onlyBeforeRight > labelled.onlyAfterRight;
  return isWorse || isLessRight || labelled.thresholds.some(({ verdict }) => verdict === "broken");
}

function describe(
  comparison: ReleaseComparison & { readonly leftAside: readonly LeftAside[] },
): string {
  const { question, before, after, stability, kolmogorovSmirnov, flips, labelled } = comparison;
  const lines = [
    `${question}: ${comparison.isChanged ? "changed" : "no change shown"}.`,
    `  before   ${nameSource(before.source)}, ${before.n} answers`,
    `  after    ${nameSource(after.source)}, ${after.n} answers`,
    ...comparison.leftAside.map(
      ({ source, n }) =>
        `  left out ${nameSource(source)}, ${n} answers: sources are never mixed, and the largest of each release is compared`,
    ),
    `  values   stability index ${stability.index.toFixed(4)} (by chance up to ${stability.cut.toFixed(4)}), largest distance ${kolmogorovSmirnov.distance.toFixed(3)} (p ${kolmogorovSmirnov.pValue.toFixed(3)})`,
    flips === null
      ? "  flipped  the releases share no record"
      : `  flipped  ${flips.n} of ${flips.of} (${percent(flips.low)} to ${percent(flips.high)})`,
  ];
  if (labelled !== null) {
    const { brierDifference: difference } = labelled;
    lines.push(
      `  labelled ${labelled.n}: only before right ${labelled.onlyBeforeRight}, only after right ${labelled.onlyAfterRight} (p ${labelled.pValue.toFixed(3)})`,
      `  Brier    ${signed(difference.mean)} (${signed(difference.low)} to ${signed(difference.high)}); above 0 the second release is worse`,
      ...labelled.thresholds.map((check) => `  ${describeCheck(check)}`),
    );
  }
  return `${lines.map((line) => printable`${line}`).join("\n")}\n`;
}
