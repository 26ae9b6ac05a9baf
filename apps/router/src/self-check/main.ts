import { runProgram } from "evaluator-cli-kit";
import { selfCheckProgram, selfCheckProgramOptions } from "./self-check-program.ts";

await runProgram(selfCheckProgram, selfCheckProgramOptions);
