import { createReadStream, existsSync } from "node:fs";
import { isAbsolute, relative, resolve } from "node:path";
import { Readable } from "node:stream";
import { truthsOf } from "evaluator-client";
import { checkName, isRecord, printable } from "evaluator-kit";
import { printCount, printCounted } from "../amounts.ts";
import { toInputError } from "../input/input-error.ts";
import { readTable as readRecords } from "../input/read-table.ts";
import { withoutRun } from "../sqlite/open-journal.ts";
import type { LabelCommand } from "../options.ts";
import type { ProgramContext } from "../service.ts";
import { LabelFile } from "./label-file.ts";
import { labelApp, savedLabels } from "./label-page.ts";
import { drawSheets, type LabelledAnswers, type LabelSheet } from "./label-sheet.ts";
import { openLabelled } from "./labelled-journal.ts";
import { servePage } from "./own-page.ts";
import { planSheets } from "./promise-sheet.ts";

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
  const journal = await openLabelled(command, context);
  const { answers, inputPath, name } = journal;
  const path = resolve(cwd, command.labels ?? journal.labelsPath);
  if (answers.questions.size === 0) {
    throw withoutRun(printable`${name} has no answers`);
  }
  if (command.onePer !== undefined && answers.table.clusters.size === 0) {
    const input = existsSync(inputPath) ? createReadStream(inputPath, { signal }) : [];
    const { idColumn } = journal;
    await readClusters(answers.table, command.onePer, { input, idColumn });
  }
  using labels = await LabelFile.open(path);
  const sheets =
    command.forPromise === undefined
      ? drawSheets(answers, command)
      : await planSheets(answers, { ...command, labels }).catch((error: unknown) => {
          throw toInputError(error, path);
        });
  const first = chooseSheet(sheets, command.question);
  const toName = (file: string) => (isAbsolute(file) ? relative(cwd, file) || file : file);
  const nextCommand = `evaluator-cli calibrate ${toName(path)} --answers ${toName(name)}`;
  const describeNext = () => (existsSync(path) ? `Next: ${nextCommand}` : "No label was saved.");
  const pageEnd = new AbortController();
  const app = labelApp({
    program: source.program,
    pages: [{ href: "./", name: "Label", isCurrent: true }],
    sheets,
    first,
    labels,
    labeler,
    nextCommand,
    stateOf: journal.stateOf,
    print: (line) => stderr.write(printable`${line}` + "\n"),
    finish(c) {
      c.env.outgoing.once("finish", () => pageEnd.abort());
      return c.text(`The program has ended.\n\n${describeNext()}`);
    },
  });
  const either = AbortSignal.any([signal, pageEnd.signal]);
  await servePage(app, { port: command.port, signal: either, stderr }, (origin) => {
    stderr.write(
      printable`Label at ${origin} (each label is saved at once in ${path}). Ctrl-C ends this.\n`,
    );
    if (command.forPromise === undefined) {
      stderr.write(describeShortage(first, command.count, source.word));
    }
    for (const line of first.limits ?? []) stderr.write(`${line}\n`);
  });
  stderr.write(`\n${describeLabels(sheets, labels, labeler)}\n`);
  stderr.write(printable`${describeNext()}\n`);
  return 0;
}

/** Reads the clusters from a column of the input that is not in the states. */
async function readClusters(
  { clusters, repeats }: LabelledAnswers["table"],
  onePer: string,
  { input, idColumn }: { input: AsyncIterable<Buffer> | Buffer[]; idColumn: string },
): Promise<void> {
  for await (const records of readRecords(Readable.from(input))) {
    for (const record of records) {
      const fields = "value" in record && isRecord(record.value) ? record.value : {};
      const id = String(fields[idColumn]);
      repeats.add(id, fields);
      const cluster = JSON.stringify(fields[onePer] ?? "");
      if (cluster !== '""') clusters.set(id, cluster);
    }
  }
}

function describeLabels(sheets: readonly LabelSheet[], labels: LabelFile, labeler: string): string {
  const allLabels = sheets
    .flatMap((sheet) => savedLabels(sheet, labels, labeler))
    .filter((label) => label !== undefined);
  const skippedCount = allLabels.filter(({ truth }) => truth === null).length;
  return `${printCounted(allLabels.length, "label")}, ${printCount(skippedCount)} skipped`;
}

// A calibration is of one model, so records that another model answered are not drawn.
function describeShortage({ id, records }: LabelSheet, count: number, word: string): string {
  if (records.length >= count) return "";
  return printable`Of ${id} there are ${printCounted(records.length, word)}, not ${String(count)}: one model answered no more.\n`;
}

function chooseSheet(sheets: readonly LabelSheet[], question: string | undefined): LabelSheet {
  const firsts = sheets.map((sheet) => truthsOf(sheet.question)?.[0]?.truth);
  const first = sheets[firsts.findIndex((truth) => typeof truth === "boolean")] ?? sheets[0];
  const ids = sheets.map(({ id }) => id);
  checkName("question", question, ids);
  return (sheets[ids.indexOf(question ?? "")] ?? first) as LabelSheet;
}
