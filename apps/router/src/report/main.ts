import { runProgram } from "evaluator-cli-kit";
import { reportProgram, reportProgramOptions } from "./report-program.ts";

await runProgram(reportProgram, reportProgramOptions);
