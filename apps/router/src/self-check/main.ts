import { runProgram } from "evaluator-cli-kit";
import { selfCheckProgram, selfCheckProgramOptions } from "./run-self-check.ts";

await runProgram(selfCheckProgram, selfCheckProgramOptions);
