import { runProgram } from "evaluator-cli-kit";
import { ConfigurationError } from "evaluator-client";
import { evalUsage, runEval } from "./run-eval.ts";

await runProgram(runEval, {
  name: "The evaluation",
  usage: evalUsage,
  isForPerson: (error) => error instanceof ConfigurationError,
});
