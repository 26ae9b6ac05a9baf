import { once } from "node:events";
import { createServer } from "node:http";
import { relative, resolve } from "node:path";
import { getRequestListener } from "@hono/node-server";
import { CliError, closeServer, listen, printable } from "evaluator-kit";
import { truthsOf } from "evaluator-client";
import type { LabelCommand } from "../options.ts";
import { printCounted } from "../amounts.ts";
import type { ProgramContext } from "../service.ts";
import { besideInput, toInputPath, toJournalPath } from "../output/paths.ts";
import { labelApp } from "./label-page.ts";
import { LabelFile } from "./label-file.ts";
import { drawSheets, type LabelSheet } from "./label-sheet.ts";

/**
 * Serves a page on this machine that shows drawn records without the model's answers and saves each
 * label, until Ctrl-C; returns the exit code.
 *
 * @throws CliError if the journal has no answers, or the labels cannot be read.
 */
export async function labelRecords(
  command: LabelCommand,
  context: ProgramContext,
): Promise<number> {
  const { cwd, stderr, signal, source } = context;
  const inputPath = toInputPath(command.file, cwd);
  const path = resolve(cwd, command.labels ?? besideInput(inputPath, ".labels.ndjson"));
  const sheets = await drawSheets(inputPath, { ...command, signal, source });
  const first = chooseSheet(sheets, command.question);
  const labels = await LabelFile.open(path);
  for (const { id, records } of sheets) labels.reweigh(id, records);
  const files = [path, toJournalPath(inputPath, source)].map((file) => relative(cwd, file) || file);
  const nextCommand = `npm run evaluator -- calibrate ${files[0]} --answers ${files[1]}`;
  const app = labelApp({ sheets, first, labels, labeler: command.labeler, nextCommand });
  const server = createServer(getRequestListener(app.fetch));
  const { origin } = await listen(server, { port: command.port });
  stderr.write(
    printable`Label at ${origin} with the keys shown there; each label is saved at once in ${path}. Ctrl-C ends this.\n`,
  );
  stderr.write(describeShortage(first, command.count, source.word));
  if (!signal.aborted) await once(signal, "abort");
  await closeServer(server);
  stderr.write(printable`\nNext: ${nextCommand}\n`);
  return 0;
}

// A calibration is of one model, so records that another model answered are not drawn.
function describeShortage({ id, records }: LabelSheet, count: number, word: string): string {
  if (records.length >= count) return "";
  return printable`Of ${id} there are ${printCounted(records.length, word)} and not ${String(count)}: one model has answered no more.\n`;
}

function chooseSheet(sheets: readonly LabelSheet[], question: string | undefined): LabelSheet {
  const chosen =
    question === undefined
      ? (sheets.find(({ question }) => typeof truthsOf(question)?.[0]?.truth === "boolean") ??
        sheets[0])
      : sheets.find(({ id }) => id === question);
  if (chosen !== undefined) return chosen;
  const known = sheets.map(({ id }) => id).join(", ");
  throw new CliError(printable`The journal has no question ${question ?? ""}; it has ${known}.`);
}
