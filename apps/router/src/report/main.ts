import { runProgram } from "evaluator-kit";
import { reportProgram, reportProgramOptions } from "./report-program.ts";

await runProgram(reportProgram, reportProgramOptions);
