import { runProgram } from "evaluator-kit";
import { toLiveContext } from "../live/live-context.ts";
import { runRecorder, usage } from "./run-recorder.ts";

await runProgram((words, context) => runRecorder(words, toLiveContext(context)), {
  name: "The recorder",
  help: { command: "npm run record --", usage },
});
