import { describeDefect, exitCodes, type Program, type ProgramOptions } from "evaluator-cli-kit";
import { ConfigurationError } from "evaluator-client";
import { runSelfCheck, selfCheckOptions } from "./run-self-check.ts";

const name = "The self-check";

/** What the program is called, how it is typed, and whose messages are for a person. */
export const selfCheckProgramOptions: ProgramOptions = {
  name,
  help: {
    command: "npm run self-check --",
    usage: `Usage: npm run self-check -- [--live]

Routes three known prompts and reports what went wrong.

  --live  ask the service that .env or the environment names, in place of the emulator

Examples
  npm run self-check
  npm run self-check -- --live`,
  },
  isForPerson: (error) => error instanceof ConfigurationError,
};

/** Asks for the known prompts, prints what came, and returns the exit code. */
export const selfCheckProgram: Program = async (words, { env, stdout, stderr }) => {
  const passed = await runSelfCheck(selfCheckOptions(words, env), {
    write: (text) => void stdout.write(text),
    reportDefect: (error) => void stderr.write(describeDefect(error, name)),
  });
  return passed ? exitCodes.done : exitCodes.failed;
};
