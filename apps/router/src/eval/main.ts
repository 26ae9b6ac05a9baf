import { runProgram } from "evaluator-kit";
import { ConfigurationError } from "evaluator-client";
import { evalUsage, runEval } from "./run-eval.ts";

await runProgram(runEval, {
  name: "The evaluation",
  help: { command: "npm run router:eval --", usage: evalUsage },
  isForPerson: (error) => error instanceof ConfigurationError,
});
