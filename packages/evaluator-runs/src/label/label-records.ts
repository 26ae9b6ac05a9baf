import { once } from "node:events";
import { createServer } from "node:http";
import { relative, resolve } from "node:path";
import { getRequestListener } from "@hono/node-server";
import { truthsOf } from "evaluator-client";
import { CliError, closeServer, listen, printable } from "evaluator-kit";
import { printCount, printCounted } from "../amounts.ts";
import { readJournal } from "../journal/read-journal.ts";
import type { LabelCommand } from "../options.ts";
import { besideInput, toInputPath, toJournalPath } from "../output/paths.ts";
import type { ProgramContext } from "../service.ts";
import { labelApp } from "./label-app.ts";
import { LabelFile } from "./label-file.ts";
import { drawSheets, type LabelSheet } from "./label-sheet.ts";

/**
 * Serves a page on this machine that shows drawn records without the model's answers and saves each
 * label, until the person finishes or Ctrl-C; returns the exit code.
 */
export async function labelRecords(
  command: LabelCommand,
  context: ProgramContext,
): Promise<number> {
  const { cwd, stderr, signal, source } = context;
  const { labeler } = command;
  const inputPath = toInputPath(command.file, cwd);
  const path = resolve(cwd, command.labels ?? besideInput(inputPath, ".labels.ndjson"));
  const journalPath = toJournalPath(inputPath, source);
  const sheets = await readJournal(journalPath, (journal) => {
    return drawSheets(journal, { ...command, file: journalPath, signal });
  });
  if (sheets.length === 0) {
    throw new CliError(
      printable`The journal ${journalPath} keeps no answers; start a run about its input first.`,
    );
  }
  const first = chooseSheet(sheets, command.question);
  using labels = await LabelFile.open(path);
  const files = [path, journalPath].map((file) => relative(cwd, file) || file);
  const nextCommand = `${source.evaluatorProgram} calibrate ${files[0]} --answers ${files[1]}`;
  const page = { isFinished: false };
  const app = labelApp({
    sheets,
    first,
    labels,
    labeler,
    nextCommand,
    stateOf: (id) => readJournal(journalPath, (journal) => journal.find(id).state, false),
    end: () => void (page.isFinished = true),
  });
  const finished = new AbortController();
  const answer = getRequestListener(app.fetch);
  const server = createServer((request, response) => {
    // The last page is sent before the server is closed.
    response.once("finish", () => page.isFinished && finished.abort());
    return answer(request, response);
  });
  const { origin } = await listen(server, { port: command.port });
  stderr.write(
    printable`Label at ${origin} with the keys shown there; each label is saved at once in ${path}. Ctrl-C ends this.\n`,
  );
  stderr.write(describeShortage(first, command.count, source.word));
  const either = AbortSignal.any([signal, finished.signal]);
  if (!either.aborted) await once(either, "abort");
  await closeServer(server);
  stderr.write(`\n${describeLabels(sheets, labels, labeler)}\n`);
  stderr.write(printable`Next: ${nextCommand}\n`);
  return 0;
}

function describeLabels(sheets: readonly LabelSheet[], labels: LabelFile, labeler: string): string {
  const saved = sheets.flatMap(({ id: question, ids }) =>
    ids.flatMap((id) => labels.find({ question, id, labeler }) ?? []),
  );
  const skipped = saved.filter(({ truth }) => truth === null).length;
  return `${printCounted(saved.length, "label")}, ${printCount(skipped)} skipped`;
}

// A calibration is of one model, so records that another model answered are not drawn.
function describeShortage({ id, ids }: LabelSheet, count: number, word: string): string {
  if (ids.length >= count) return "";
  return printable`Of ${id} there are ${printCounted(ids.length, word)} and not ${String(count)}: one model has answered no more.\n`;
}

function chooseSheet(sheets: readonly LabelSheet[], question: string | undefined): LabelSheet {
  const firsts = sheets.map((sheet) => truthsOf(sheet.question)?.[0]?.truth);
  const first = sheets[firsts.findIndex((truth) => typeof truth === "boolean")] ?? sheets[0];
  const chosen = question === undefined ? first : sheets.find(({ id }) => id === question);
  if (chosen !== undefined) return chosen;
  const known = sheets.map(({ id }) => id).join(", ");
  throw new CliError(printable`The journal has no question ${question ?? ""}; it has ${known}.`);
}
