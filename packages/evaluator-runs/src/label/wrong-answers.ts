import { createReadStream, existsSync } from "node:fs";
import { CalibrationInputError, LabelJoin, reportSteps } from "evaluator-calibration/reports";
import { CliError } from "evaluator-kit";
import { describeWrong } from "../amounts.ts";
import { readTable as readRecords } from "../input/read-table.ts";
import { inputOf, needJournalAddress } from "../journal-address.ts";
import { besideInput } from "../output/paths.ts";
import type { ProgramContext } from "../service.ts";
import { readTable } from "./label-sheet.ts";

/**
 * Returns in one sentence how many labelled answers of each engine are wrong, by the labels beside the input;
 * null if no second engine answered.
 *
 * @throws CliError for a file of labels that is none.
 */
export async function wrongAnswers(
  command: { readonly file?: string | undefined; readonly journal?: string | undefined },
  context: ProgramContext,
): Promise<string | null> {
  const { signal, source } = context;
  const address = await needJournalAddress({ ...command, takesFile: true }, context);
  if (address.kind !== "sqlite") return null;
  const { table } = await readTable(address.path, {}, signal);
  const { questions } = table;
  const join = new LabelJoin(table, { last: true, allowUnknown: true, questions });
  const path = besideInput(inputOf(address, source), ".labels.ndjson");
  const records = existsSync(path) ? readRecords(createReadStream(path, { signal })) : [];
  try {
    for await (const all of records)
      for (const record of all) if ("value" in record) join.add(record, path);
  } catch (error) {
    if (!(error instanceof CalibrationInputError)) throw error;
    throw new CliError(`${error.message}.`, { cause: error });
  }
  return describeWrong(reportSteps(table, join));
}
