import { exitCodes, runProgram } from "evaluator-cli-kit";
import { readFeedback, reportPath } from "../report/read-records.ts";

await runProgram(
  async (words, { env, stdout }) => {
    const labels = await readFeedback(reportPath(words, env));
    for (const [id, truth] of labels) {
      stdout.write(`${JSON.stringify({ id, question: "tier", truth, labeler: "feedback" })}\n`);
    }
    return exitCodes.done;
  },
  {
    name: "The labels",
    usage:
      "Usage: npm run --silent router:labels -- [<decision log>] > labels.ndjson; without one, ROUTER_DECISION_LOG names it.",
  },
);
