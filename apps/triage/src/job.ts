import { resolve } from "node:path";
import type { Catalog, EvaluationRequest, Questions, Transport } from "evaluator-client";
import type { TriageRun } from "./arguments/run-arguments.ts";
import type { Mail } from "./input/mail.ts";
import { MailFile } from "./input/mail-file.ts";
import { toJournalPath } from "./journal/journal-path.ts";
import { type AnswerField, answerFields } from "./output/answer-fields.ts";
import { toOutputPath } from "./output/output-path.ts";
import { chooseQuestions } from "./questions/choose-questions.ts";
import { type Service, serviceOf } from "./service.ts";
import { chooseState } from "./state/choose-state.ts";
import type { ToState } from "./state/to-state.ts";
import type { Surroundings } from "./surroundings.ts";
import { checkSort } from "./table.ts";

/** A run with everything read that it needs; nothing is written yet, and nothing sent. */
export interface Job {
  readonly run: TriageRun;
  readonly inputPath: string;
  readonly outputPath: string;
  readonly journalPath: string;
  /** The mails, of which the run takes as many as its limit says. */
  readonly input: MailFile;
  readonly questions: Questions;
  readonly fields: readonly AnswerField[];
  readonly toState: ToState;
  readonly transport: Transport;
  /** Where prices are listed, or null. */
  readonly catalog: Catalog | null;
  readonly service: Service;
}

/**
 * Reads what a run needs.
 *
 * @throws TriageError when something of it is missing or wrong.
 */
export async function readJob(run: TriageRun, surroundings: Surroundings): Promise<Job> {
  const { cwd, env, signal } = surroundings;
  const inputPath = resolve(cwd, run.file);
  const outputPath = toOutputPath(inputPath, run.format);
  const journalPath = toJournalPath(inputPath);
  const input = await MailFile.open(inputPath, { skipInvalid: run.skipInvalid, signal });
  const questions = await chooseQuestions(run, surroundings);
  const fields = answerFields(questions);
  checkSort(run, fields);
  const way = { offline: run.offline, dryRun: run.dryRun, env };
  const transport = await surroundings.openTransport(way);
  return {
    run,
    inputPath,
    outputPath,
    journalPath,
    input,
    questions,
    fields,
    toState: await chooseState(run, input, surroundings),
    transport,
    catalog: surroundings.openCatalog(way),
    service: serviceOf(transport),
  };
}

/** Gives the request about a mail. */
export function requestFor({ toState, questions }: Job, mail: Mail): EvaluationRequest {
  return { state: toState(mail), questions };
}
