import { runProgram } from "evaluator-cli-kit";
import { benchProgram, benchProgramOptions } from "./bench-program.ts";

await runProgram(benchProgram, benchProgramOptions);
