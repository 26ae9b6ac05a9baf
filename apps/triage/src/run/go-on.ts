import { CliError, printable } from "evaluator-kit";
import type { TriageRun, WorkCommand } from "../arguments.ts";
import { readJournal } from "../journal/read-journal.ts";
import type { BegunRun } from "../journal/run-facts.ts";
import { inputOf, type JournalAddress } from "../journal-address.ts";
import { chooseQuestions } from "../questions/read-questions.ts";
import { checkSameEngine, serviceOf, type TriageContext } from "../service.ts";
import { triageFile } from "./triage-file.ts";

/**
 * Goes on with the newest run of a journal file as it was begun; returns its exit code.
 *
 * @throws CliError when there is none, or it asks somebody else than this program would.
 */
export async function goOn(
  command: WorkCommand,
  address: Extract<JournalAddress, { kind: "sqlite" }>,
  program: TriageContext,
): Promise<number> {
  const { path } = address;
  const newest = await readJournal(path, (journal) => journal.newestRun());
  if (newest === null) {
    throw new CliError(printable`No run has begun in ${path}; run triage on its file.`);
  }
  const { openTransport, env } = program;
  const transport = await openTransport({ ...command, dryRun: false, env });
  const advice = "set the same engine (.env, --offline), or run triage on the file to ask anew.";
  checkSameEngine({ run: "The run", service: newest.service, advice }, serviceOf(transport));
  const run = toRun(newest, command, inputOf(address));
  const questions = await chooseQuestions(run.questions, program);
  if (JSON.stringify(questions) !== JSON.stringify(newest.questions)) {
    throw new CliError(
      "The run asks other questions than this program would now; undo the change to its --questions or TRIAGE_USER_NAME, or run triage on the file to ask anew.",
    );
  }
  return await triageFile(run, program);
}

function toRun({ begin }: BegunRun, command: WorkCommand, file: string): TriageRun {
  const { offline, concurrency, priceUsd, requestsPerMinute } = command;
  const noOptions = { skipInvalid: false, context: false, today: null, contacts: null };
  const noFiles = { stateFields: [], questions: null, calibration: null, format: "json" as const };
  const kept = begin?.options ?? { ...noOptions, ...noFiles, limit: null, maxCostUsd: null };
  return {
    ...kept,
    name: "run",
    file,
    journal: null,
    limit: kept.limit ?? Number.POSITIVE_INFINITY,
    maxCostUsd: kept.maxCostUsd ?? Number.POSITIVE_INFINITY,
    offline,
    concurrency,
    priceUsd,
    requestsPerMinute,
    raw: false,
    dryRun: false,
    yes: false,
    sort: null,
    top: Number.POSITIVE_INFINITY,
    since: null,
    only: null,
  };
}
