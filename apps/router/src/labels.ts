import { runProgram } from "evaluator-kit";
import { labelsProgram } from "./programs.ts";

await runProgram(...labelsProgram);
