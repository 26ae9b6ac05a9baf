import { runProgram } from "evaluator-cli-kit";
import { openCatalog } from "./open-catalog.ts";
import { openTransport } from "./open-transport.ts";
import { runTriage } from "./run-triage.ts";
import { usage } from "./usage.ts";

await runProgram((words, context) => runTriage(words, { ...context, openTransport, openCatalog }), {
  name: "The triage",
  usage,
});
