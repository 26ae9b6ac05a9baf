import { runProgram } from "evaluator-kit";
import { selfCheckProgram, selfCheckProgramOptions } from "./run-self-check.ts";

await runProgram(selfCheckProgram, selfCheckProgramOptions);
