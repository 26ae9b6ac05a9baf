import { createReadStream, existsSync } from "node:fs";
import { LabelJoin, reportSteps } from "evaluator-calibration/reports";
import { toFileError } from "evaluator-kit";
import { describeWrong } from "../amounts.ts";
import { toInputError } from "../input/input-error.ts";
import { readTable as readRecords, TableError } from "../input/read-table.ts";
import type { ProgramContext } from "../service.ts";
import { openLabelled } from "./labelled-journal.ts";

/**
 * Returns in one sentence how many labelled answers of each engine are wrong, by the labels beside the input;
 * null if no second engine answered.
 *
 * @throws CliError for a file of labels that is none.
 */
export async function wrongAnswers(
  command: Parameters<typeof openLabelled>[0],
  context: ProgramContext,
): Promise<string | null> {
  const { signal } = context;
  const { answers, labelsPath: path } = await openLabelled(command, context);
  const { table } = answers;
  const { questions } = table;
  const join = new LabelJoin(table, { last: true, allowUnknown: true, questions });
  if (existsSync(path)) await joinLabels(path, join, signal);
  return describeWrong(reportSteps(table, join));
}

/** Joins the labels of a file with answers. @throws CliError if it cannot be read, or has other lines */
export async function joinLabels(
  path: string,
  join: LabelJoin,
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const records of readRecords(createReadStream(path, { signal }))) {
      for (const record of records) {
        if ("problem" in record) throw new TableError(record.line, record.problem);
        join.add(record, path);
      }
    }
  } catch (error) {
    throw toFileError(toInputError(error, path), `read ${path}`);
  }
}
