import { runProgram } from "evaluator-kit";
import { evalProgram } from "./programs.ts";

await runProgram(...evalProgram);
