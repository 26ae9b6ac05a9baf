import { runProgram } from "evaluator-kit";
import { benchProgram } from "./bench-program.ts";

await runProgram(benchProgram(), { name: "The benchmark", isForPerson: () => true });
