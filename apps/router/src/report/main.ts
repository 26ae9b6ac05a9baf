import { exitCodes, runProgram } from "evaluator-cli-kit";
import { readRecords, reportPath } from "./read-records.ts";
import { describeSummary, summarize } from "./summary.ts";

await runProgram(
  async (words, { env, stdout }) => {
    stdout.write(describeSummary(await summarize(readRecords(reportPath(words, env)))));
    return exitCodes.done;
  },
  {
    name: "The report",
    usage:
      "Usage: npm run router:report -- [<decision log>]; without one, ROUTER_DECISION_LOG names it.",
  },
);
