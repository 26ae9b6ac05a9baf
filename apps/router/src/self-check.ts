import { runProgram } from "evaluator-kit";
import { selfCheckProgram } from "./programs.ts";

await runProgram(...selfCheckProgram);
