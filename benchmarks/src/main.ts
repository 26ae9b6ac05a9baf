import { runProgram } from "evaluator-kit";
import { benchProgram, benchProgramOptions } from "./bench-program.ts";

await runProgram(benchProgram(), benchProgramOptions);
