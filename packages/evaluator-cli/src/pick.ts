import { existsSync } from "node:fs";
import { resolve } from "node:path";
import {
  type AnswerColumn,
  type AnswerTable,
  drawRecords,
  LabelJoin,
  pickRecords,
} from "evaluator-calibration/reports";
import { checkName, type CliContext, missingColumn, printable, UsageError } from "evaluator-kit";
import { printCount, printCounted } from "evaluator-runs/source";
import type { ReportOptions } from "./commands/report-commands.ts";
import { readActs } from "./read-acts.ts";
import {
  listAnswerFiles,
  checkAnswered,
  listModelIds,
  readAnswers,
  readRecords,
} from "./read-files.ts";
import { nameSource } from "./report/sentences.ts";
import { writeSheet } from "./write-sheet.ts";

type PickOptions = ReportOptions<"pick">;

/** Draws records to label: by strata with the probability of being drawn, of acts, or for a promise. */
export async function pick(
  moreFiles: readonly string[],
  options: PickOptions,
  context: CliContext,
) {
  const { acts, out } = options;
  if (acts !== undefined && moreFiles.length > 0) throw new UsageError("--acts takes one file.");
  if (out !== undefined && /\.(?:csv|tsv|xlsx)$/i.test(out)) {
    throw new UsageError(
      printable`--out is a file of JSON lines, such as sheet.ndjson, not ${out}.`,
    );
  }
  const { rows, of, next } =
    acts === undefined
      ? await drawAnswers(listAnswerFiles(options.answers, moreFiles), options, context)
      : drawActs(await readActs(acts, context), options);
  const { answers = [], labels } = options;
  const inputs = [
    ...answers,
    ...moreFiles,
    ...[acts, labels].filter((fileName) => fileName !== undefined),
  ];
  if (out === undefined) {
    context.stdout.write(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  } else if (!(await writeSheet(out, { rows, inputs }, context))) return;
  context.stderr.write(
    `Drew ${printCount(rows.length)} of ${printCounted(of, "record")}; fill in truth, add labeler, and ${next}.\n`,
  );
}

async function drawAnswers(
  fileNames: readonly string[],
  options: PickOptions,
  context: CliContext,
) {
  const { table } = await readAnswers(fileNames, options, context);
  checkAnswered(table, fileNames);
  return options.forPromise === undefined
    ? drawByStrata(table, options)
    : await drawForPromise(table, options, context);
}

function drawActs(table: LabelledTable, { budget, seed, ...wantedColumn }: PickOptions) {
  const { ids, question } = chooseColumn(table, wantedColumn);
  const drawnIds = drawRecords({ ids }, { budget, seed });
  const drawnShare = Number((drawnIds.length / ids.length).toPrecision(12));
  const rows = drawnIds.map((id) => ({ id, question, truth: null, drawn: drawnShare }));
  return { rows, of: ids.length, next: "give the sheet to audit" };
}

function drawByStrata(table: AnswerTable, { budget, seed, onePer, ...wantedColumn }: PickOptions) {
  const { clusters } = table;
  const column = chooseColumn(table, wantedColumn);
  if (onePer !== undefined && clusters.size === 0) {
    const problem = printable`No record has a field "${onePer}"`;
    throw missingColumn(problem, "--one-per", table.repeats.names);
  }
  const rows = pickRecords(column, { budget, seed, clusters }).map(
    ({ drawn: drawnCount, id, question }) => {
      return { id, question, truth: null, drawn: Number(drawnCount.toPrecision(12)) };
    },
  );
  return { rows, of: column.ids.length, next: "give the sheet to calibrate" };
}

/** Draws the records that the promises of some acts take next, after the labels so far. */
async function drawForPromise(table: AnswerTable, options: PickOptions, context: CliContext) {
  const {
    forPromise = [],
    labels: labelsFileName,
    require: maxRisk,
    confidence,
    seed,
    budget,
  } = options;
  const { exactlyThese } = options;
  if (labelsFileName === undefined)
    throw new UsageError("--for-promise needs --labels, the labels so far.");
  const { openPlan } = await import("evaluator-runs");
  const labelsPath = resolve(context.cwd, labelsFileName);
  const labelJoin = new LabelJoin(table, options);
  if (existsSync(labelsPath)) {
    await readRecords(labelsFileName, context, (labelRecord) =>
      labelJoin.add(labelRecord, labelsFileName),
    );
  }
  const toColumn = (question: string) => chooseColumn(table, { ...options, question });
  const wantedPlan = { forPromise, maxRisk, confidence, seed, exactlyThese, columnOf: toColumn };
  const { promises } = await openPlan(labelsPath, wantedPlan, labelJoin);
  const promiseShare = Math.ceil(budget / promises.length);
  const rows = promises.flatMap(({ question, next }) => {
    const drawnSample = Array.from({ length: promiseShare }, next).filter(
      (drawnRecord) => drawnRecord !== null,
    );
    return drawnSample.map(({ id, draw }) => ({ id, question, truth: null, draw }));
  });
  const of = promises.reduce((total, { draw }) => total + draw.regionSize, 0);
  return { rows: rows.slice(0, budget), of, next: printable`append the rows to ${labelsFileName}` };
}

type LabelledTable = Pick<AnswerTable, "columns" | "questions">;

function chooseColumn(
  labelledTable: LabelledTable,
  { question, model }: Pick<PickOptions, "question" | "model">,
): AnswerColumn {
  checkName("question", question, labelledTable.questions);
  const questionColumns = labelledTable.columns.filter(
    (column) => (question ?? column.question) === column.question,
  );
  checkName("model", model, listModelIds(questionColumns));
  const matchingColumns = questionColumns.filter(
    ({ source }) => (model ?? source.modelId) === source.modelId,
  );
  const [firstColumn, secondColumn] = matchingColumns;
  if (firstColumn !== undefined && secondColumn === undefined) return firstColumn;
  const questions = new Set(matchingColumns.map((column) => column.question));
  if (questions.size > 1) {
    throw new UsageError(`Choose one with --question: ${[...questions].join(", ")}.`);
  }
  const sourceNames = matchingColumns.map(({ source }) => nameSource(source)).join("; ");
  throw new UsageError(`Choose a source with --model: ${sourceNames}.`);
}
