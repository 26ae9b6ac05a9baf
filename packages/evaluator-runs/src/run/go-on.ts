import { CliError, printable } from "evaluator-kit";
import { listRuns, needRun } from "../sqlite/file-runs.ts";
import { readJournal } from "../sqlite/read-journal.ts";
import { inputOf, type JournalAddress } from "../journal-address.ts";
import { readNextEngine, serviceThrough } from "../next-engine.ts";
import type { RunCommand, WorkCommand } from "../options.ts";
import { chooseQuestions } from "../questions/read-questions.ts";
import type { RunBegin } from "../run-facts.ts";
import { checkSameEngine, type ProgramContext } from "../service.ts";
import { planInFile } from "./plan-in-file.ts";
import { startRun } from "./start-run.ts";

/**
 * Goes on with the newest run of a journal file, with the options it was begun with; returns its exit code.
 *
 * @throws CliError if there is no run, or it asks another engine or other questions than here.
 */
export async function goOn(
  command: WorkCommand,
  address: Extract<JournalAddress, { kind: "sqlite" }>,
  program: ProgramContext,
): Promise<number> {
  const { path } = address;
  const { newest, number } = await readJournal(path, (journal) => {
    const all = listRuns(journal);
    if (command.run !== undefined) needRun(all, command.run, path);
    return { newest: all.at(-1), number: all.length };
  });
  if (newest === undefined) {
    throw new CliError(printable`${path} has no run; start one first.`);
  }
  if ((command.run ?? number) !== number) {
    const problem = printable`Run ${String(command.run)} of ${path} is over`;
    throw new CliError(`${problem}; work goes on with the newest, ${number}.`);
  }
  const runSetup = newest.setup;
  const { openTransport, env } = program;
  const transport = await openTransport({ ...command, env });
  const option = program.engineOption?.long ?? ".env";
  const orElse = "or start a new run.";
  const advice = `set its engine (${option}, --offline), ${orElse}`;
  const state = newest.begin?.options ?? {};
  const run = {
    ...toRun(newest.begin, command),
    file: inputOf(address, program.source, newest.begin?.options["input"]),
    state,
  };
  const questions = await chooseQuestions(run.questions, program);
  const next = await readNextEngine({ ...run, env }, runSetup.questions, program);
  const service = serviceThrough(transport, next);
  checkSameEngine({ run: "The run", service: runSetup.service, advice }, service);
  if (JSON.stringify(questions) !== JSON.stringify(runSetup.questions)) {
    throw new CliError(
      `The run has other questions; undo the change to --questions or the environment, ${orElse}`,
    );
  }
  return await startRun(run, planInFile, program);
}

function toRun(begin: RunBegin | null, command: WorkCommand): Omit<RunCommand, "file" | "state"> {
  const { journal: _journal, run: _run, wait: _wait, ...asking } = command;
  const { skipInvalid, questions, calibration, format, limit, maxCostUsd } = begin?.options ?? {};
  return {
    ...asking,
    ...(skipInvalid && { skipInvalid }),
    ...(questions != null && { questions }),
    ...(calibration != null && { calibration }),
    format: format ?? "json",
    limit: limit ?? Number.POSITIVE_INFINITY,
    maxCost: maxCostUsd ?? Number.POSITIVE_INFINITY,
  };
}
