import { resolve } from "node:path";
import { type AnswerColumn, type AnswerTable, pickRecords } from "evaluator-calibration";
import {
  CliError,
  type CliContext,
  printable,
  toFileError,
  UsageError,
  writeWholeFile,
} from "evaluator-kit";
import type { ReportOptions } from "./commands/report-commands.ts";
import { readActs } from "./read-acts.ts";
import { answerNames, readAnswers } from "./read-files.ts";
import { nameSource } from "./report/sentences.ts";

type PickOptions = ReportOptions<"pick">;

/** Draws records to label, with the probability of being drawn. */
export async function pick(more: readonly string[], options: PickOptions, context: CliContext) {
  if (options.uncertain) {
    const why = "labels of uncertain records alone say nothing about the others";
    throw new UsageError(`--uncertain is refused: ${why}. Without it, those are drawn more often.`);
  }
  const { acts, budget, seed, onePer } = options;
  if (acts !== undefined && more.length > 0) throw new UsageError("--acts takes one file.");
  const table =
    acts === undefined
      ? (await readAnswers(answerNames(options.answers, more), options, context)).table
      : await readActs(acts, context);
  const column = chooseColumn(table, options);
  const { clusters } = table;
  if (onePer !== undefined && clusters.size === 0) {
    throw new CliError(printable`No record has a field "${onePer}". Name another with --one-per.`);
  }
  const [strata, next] = acts === undefined ? [undefined, "calibrate"] : [1, "audit"];
  const picked = pickRecords(column, { budget, seed, clusters, strata });
  const lines = picked.map(({ drawn, id, question, stratum }) =>
    JSON.stringify({ id, question, truth: null, stratum, drawn: Number(drawn.toPrecision(12)) }),
  );
  const sheet = `${lines.join("\n")}\n`;
  if (options.out === undefined) context.stdout.write(sheet);
  else {
    const path = resolve(context.cwd, options.out);
    await writeWholeFile(path, sheet).catch((error: unknown) => {
      throw toFileError(error, `write ${path}`, "Choose another file with --out.");
    });
  }
  context.stderr.write(
    `Drew ${picked.length} of ${column.ids.length} records; fill in truth, add labeler, and give the sheet to ${next}.\n`,
  );
}

function chooseColumn(
  table: Pick<AnswerTable, "columns" | "questions">,
  { question, model }: PickOptions,
): AnswerColumn {
  const found = table.columns.filter(
    (column) =>
      (question === undefined || column.question === question) &&
      (model === undefined || column.source.modelId === model),
  );
  const [first, second] = found;
  if (first === undefined) {
    const known = table.questions.join(", ") || "none";
    throw new CliError(`No such answers; the questions are ${known}.`);
  }
  if (second === undefined) return first;
  const questions = new Set(found.map((column) => column.question));
  if (questions.size > 1) {
    throw new UsageError(`Choose one with --question: ${[...questions].join(", ")}.`);
  }
  const models = found.map(({ source }) => nameSource(source)).join("; ");
  throw new UsageError(
    `The answers come from several sources (${models}); choose one with --model.`,
  );
}
