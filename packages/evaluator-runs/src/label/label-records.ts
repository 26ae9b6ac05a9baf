import { once } from "node:events";
import { createServer } from "node:http";
import { relative, resolve } from "node:path";
import { getRequestListener } from "@hono/node-server";
import { AnswerTable, pickRecords } from "evaluator-calibration";
import { CliError, closeServer, listen, printable } from "evaluator-kit";
import { type Question, truthsOf } from "evaluator-client";
import type { JournalReader } from "../journal/journal-reader.ts";
import { readJournal } from "../journal/read-journal.ts";
import type { LabelCommand } from "../options.ts";
import { printCounted } from "../amounts.ts";
import type { ProgramContext } from "../service.ts";
import { besideInput, toInputPath, toJournalPath } from "../output/paths.ts";
import { labelApp, type LabelSheet } from "./label-page.ts";
import { LabelFile } from "./label-file.ts";

/**
 * Serves a page on this machine that shows drawn records without the model's answers and saves each
 * label, until Ctrl-C; returns the exit code.
 */
export async function labelRecords(
  command: LabelCommand,
  context: ProgramContext,
): Promise<number> {
  const { cwd, stderr, signal, source } = context;
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
  const labels = await LabelFile.open(path);
  for (const { id, records } of sheets) labels.reweigh(id, records);
  const files = [path, journalPath].map((file) => relative(cwd, file) || file);
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
  const firsts = sheets.map((sheet) => truthsOf(sheet.question)?.[0]?.truth);
  const first = sheets[firsts.findIndex((truth) => typeof truth === "boolean")] ?? sheets[0];
  const chosen = question === undefined ? first : sheets.find(({ id }) => id === question);
  if (chosen !== undefined) return chosen;
  const known = sheets.map(({ id }) => id).join(", ");
  throw new CliError(printable`The journal has no question ${question ?? ""}; it has ${known}.`);
}

/**
 * Draws records to label for each question, by strata of the printed value, so that each label has the
 * number of records that it represents. The same seed draws the same records from the same answers.
 */
function drawSheets(
  journal: JournalReader,
  {
    count,
    seed,
    file,
    signal,
  }: Pick<LabelCommand, "count" | "seed" | "file"> & Pick<ProgramContext, "signal">,
): LabelSheet[] {
  // A record that was asked about again keeps its newest answer.
  const table = new AnswerTable({ last: true });
  const questions = new Map<string, Question>();
  for (const entry of journal.answered()) {
    signal.throwIfAborted();
    const { id, service, evaluation } = entry;
    for (const [name, question] of Object.entries(entry.questions)) questions.set(name, question);
    const answered = { id, questions: entry.questions, wire: service.address, evaluation };
    table.addEvaluation(answered, { file, line: 1 });
  }
  return [...questions].map(([id, question]) => {
    // The truth does not depend on the model, so the one with the most answers is drawn from.
    const [column] = table.columns
      .filter((candidate) => candidate.question === id)
      .toSorted((one, other) => other.ids.length - one.ids.length);
    const picked = column === undefined ? [] : pickRecords(column, { budget: count, seed });
    // The weight is the number of records that it represents: the inverse of its probability of a draw.
    const records = picked.map(({ id, drawn }) => {
      return { id, state: journal.find(id).state, weight: 1 / drawn };
    });
    return { id, question, records };
  });
}
