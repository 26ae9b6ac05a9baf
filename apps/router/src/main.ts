import { runProgram } from "evaluator-kit";
import { routerProgram, routerProgramOptions } from "./router-program.ts";

await runProgram(routerProgram, routerProgramOptions);
