import { resolve } from "node:path";
import { evaluateMails } from "./evaluate-mails.ts";
import type { Mail } from "./input/mail.ts";
import { readMails } from "./input/read-mails.ts";
import { checkOutput } from "./output/check-output.ts";
import { toOutputPath } from "./output/output-path.ts";
import { toRawLine } from "./output/raw-line.ts";
import { toTriageRecord, type TriageRecord } from "./output/triage-record.ts";
import { writeRecords } from "./output/write-records.ts";
import type { TriageRun } from "./parse-arguments.ts";
import type { Surroundings } from "./surroundings.ts";
import { triageTable } from "./table/triage-table.ts";
import { triageQuestions } from "./triage-questions.ts";

const offlineNotice =
  "Offline: the emulator on this machine answers, from recordings or by matching words, not a model.\n";

/**
 * Triages one file: checks everything, asks about each mail, writes the results, prints the table.
 *
 * @throws TriageError when it cannot go on, the signal's reason when aborted; nothing is written then.
 */
export async function triageFile(run: TriageRun, surroundings: Surroundings): Promise<void> {
  const { cwd, stdout, stderr, signal } = surroundings;
  const inputPath = resolve(cwd, run.file);
  const outputPath = toOutputPath(inputPath);
  const mails = await readMails(inputPath);
  await checkOutput(outputPath, inputPath);
  const records = await askAbout(mails.slice(0, run.limit), { run, surroundings });
  signal.throwIfAborted();
  await writeRecords(outputPath, records);
  stderr.write(`Wrote ${records.length} of ${mails.length} records to ${outputPath}\n`);
  stdout.write(triageTable(records));
}

async function askAbout(
  mails: readonly Mail[],
  { run, surroundings }: { run: TriageRun; surroundings: Surroundings },
): Promise<TriageRecord[]> {
  const { env, stdout, stderr, signal } = surroundings;
  const evaluator = surroundings.openEvaluator({ offline: run.offline, env });
  if (run.offline) stderr.write(offlineNotice);
  const questions = triageQuestions(env["TRIAGE_USER_NAME"]?.trim() || "the user");
  const records: TriageRecord[] = [];
  for await (const { mail, evaluation } of evaluateMails(mails, { evaluator, questions, signal })) {
    if (run.raw) stdout.write(toRawLine(mail.id, evaluation));
    records.push(toTriageRecord(mail, evaluation));
  }
  return records;
}
