import { runProgram } from "evaluator-kit";
import { toLiveContext } from "../live/live-context.ts";
import { driftProgramOptions, runDrift } from "./run-drift.ts";

await runProgram((words, context) => runDrift(words, toLiveContext(context)), driftProgramOptions);
