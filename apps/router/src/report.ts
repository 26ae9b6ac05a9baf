import { runProgram } from "evaluator-kit";
import { reportProgram } from "./programs.ts";

await runProgram(...reportProgram);
