import { runProgram } from "evaluator-cli-kit";
import { routerProgram, routerProgramOptions } from "./router-program.ts";

await runProgram(routerProgram, routerProgramOptions);
