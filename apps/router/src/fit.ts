import { runProgram } from "evaluator-kit";
import { programs } from "./programs.ts";

await runProgram(...programs.fit);
