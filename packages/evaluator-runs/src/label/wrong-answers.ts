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
  const labelJoin = new LabelJoin(table, { last: true, allowUnknown: true, questions });
  if (existsSync(path)) await joinLabels(path, labelJoin, signal);
  return describeWrong(reportSteps(table, labelJoin));
}

/** Joins the labels of a file with answers. @throws CliError if it cannot be read, or has other lines */
export async function joinLabels(
  labelsPath: string,
  labelJoin: LabelJoin,
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const labelRecords of readRecords(createReadStream(labelsPath, { signal }))) {
      for (const labelRecord of labelRecords) {
        if ("problem" in labelRecord) throw new TableError(labelRecord.line, labelRecord.problem);
        labelJoin.add(labelRecord, labelsPath);
      }
    }
  } catch (error) {
    throw toFileError(toInputError(error, labelsPath), `read ${labelsPath}`);
  }
}
