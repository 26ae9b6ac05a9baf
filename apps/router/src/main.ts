import { runProgram } from "evaluator-kit";
import { routerProgram } from "./programs.ts";

await runProgram(...routerProgram);
