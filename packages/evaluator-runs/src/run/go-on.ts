import { CliError, printable } from "evaluator-kit";
import type { RunCommand, WorkCommand } from "../options/run-options.ts";
import { readJournal } from "../journal/read-journal.ts";
import type { BegunRun } from "../journal/run-facts.ts";
import { inputOf, type JournalAddress } from "../journal-address.ts";
import { chooseQuestions } from "../questions/read-questions.ts";
import { checkSameEngine, serviceOf, type ProgramContext } from "../service.ts";
import { runFile } from "./run-file.ts";

/**
 * Goes on with the newest run of a journal file as it was begun; returns its exit code.
 *
 * @throws CliError when there is none, or it asks somebody else than this program would.
 */
export async function goOn(
  command: WorkCommand,
  address: Extract<JournalAddress, { kind: "sqlite" }>,
  program: ProgramContext,
): Promise<number> {
  const { path } = address;
  const newest = await readJournal(path, (journal) => journal.newestRun());
  if (newest === null) {
    throw new CliError(printable`No run has begun in ${path}; run triage on its file.`);
  }
  const { openTransport, env } = program;
  const transport = await openTransport({ ...command, env });
  const advice = "set the same engine (.env, --offline), or run triage on the file to ask anew.";
  checkSameEngine({ run: "The run", service: newest.service, advice }, serviceOf(transport));
  const run = toRun(newest, { command, program, file: inputOf(address) });
  const questions = await chooseQuestions(run.questions, program);
  if (JSON.stringify(questions) !== JSON.stringify(newest.questions)) {
    throw new CliError(
      "The run asks other questions than this program would now; undo the change to its --questions or TRIAGE_USER_NAME, or run triage on the file to ask anew.",
    );
  }
  return await runFile(run, program);
}

function toRun(
  { begin }: BegunRun,
  {
    command,
    program,
    file,
  }: {
    readonly command: WorkCommand;
    readonly program: ProgramContext;
    readonly file: string;
  },
): RunCommand {
  const { journal: _journal, run: _run, wait: _wait, ...asking } = command;
  const kept = begin?.options;
  return {
    ...asking,
    file,
    state: program.source.parseStateOptions(kept ?? {}),
    ...(kept?.skipInvalid === true && { skipInvalid: true }),
    ...(kept != null && kept.questions !== null && { questions: kept.questions }),
    ...(kept != null && kept.calibration !== null && { calibration: kept.calibration }),
    format: kept?.format ?? "json",
    limit: kept?.limit ?? Number.POSITIVE_INFINITY,
    maxCost: kept?.maxCostUsd ?? Number.POSITIVE_INFINITY,
    top: Number.POSITIVE_INFINITY,
  };
}
