import { runProgram } from "evaluator-cli-kit";
import { toLiveContext } from "../live/live-context.ts";
import { runDrift, usage } from "./run-drift.ts";

await runProgram((words, context) => runDrift(words, toLiveContext(context)), {
  name: "The comparison",
  help: { command: "npm run drift --", usage },
});
