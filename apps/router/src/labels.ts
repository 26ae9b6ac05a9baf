import { exitCodes, runProgram } from "evaluator-kit";
import { readFeedback, reportPath } from "./report/read-records.ts";

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
    help: {
      command: "npm run --silent router:labels --",
      usage: `Usage: npm run --silent router:labels -- [<decision log>]

Prints what people said of the tiers, a label a line; without a path, ROUTER_DECISION_LOG names the log.

Examples
  npm run --silent router:labels -- decisions.jsonl > labels.ndjson`,
    },
  },
);
