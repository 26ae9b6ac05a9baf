import { exitCodes, type Program, type ProgramOptions } from "evaluator-kit";
import { readRecords, reportPath } from "./read-records.ts";
import { describeSummary, summarize } from "./summary.ts";

/** What the program is called, and how it is typed. */
export const reportProgramOptions: ProgramOptions = {
  name: "The report",
  help: {
    command: "npm run router:report --",
    usage: `Usage: npm run router:report -- [<decision log>]

Adds up what a decision log holds; without a path, ROUTER_DECISION_LOG names it.

Examples
  npm run router:report -- decisions.jsonl`,
  },
};

/** Prints what a decision log adds up to, and returns the exit code. */
export const reportProgram: Program = async (words, { env, stdout }) => {
  stdout.write(describeSummary(await summarize(readRecords(reportPath(words, env)))));
  return exitCodes.done;
};
