import { describeDefect, exitCodes, runProgram } from "evaluator-cli-kit";
import { ConfigurationError } from "evaluator-client";
import { runSelfCheck, selfCheckOptions } from "./run-self-check.ts";

const name = "The self-check";

await runProgram(
  async (words, { env, stdout, stderr }) => {
    const passed = await runSelfCheck(selfCheckOptions(words, env), {
      write: (text) => void stdout.write(text),
      reportDefect: (error) => void stderr.write(describeDefect(error, name)),
    });
    return passed ? exitCodes.done : exitCodes.failed;
  },
  {
    name,
    usage: "Usage: npm run self-check -- [--live]",
    isForPerson: (error) => error instanceof ConfigurationError,
  },
);
