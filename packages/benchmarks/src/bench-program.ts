import { exitCodes, type Program, type ProgramOptions } from "evaluator-cli-kit";
import { readBenchArguments, usage } from "./bench-arguments.ts";
import { runBench } from "./run-bench.ts";

/** What the program is called, how it is typed, and whose messages are for a person. */
export const benchProgramOptions: ProgramOptions = {
  name: "The benchmark",
  help: { command: "npm run bench --", usage },
  isForPerson: () => true,
};

/** Measures what the command line asks for, and returns the exit code. */
export const benchProgram: Program = async (words, { cwd, stdout, stderr, signal }) => {
  const given = readBenchArguments(words, cwd);
  const write = (text: string) => void stdout.write(text);
  const tell = (line: string) => void stderr.write(`… ${line}\n`);
  // The terminal interrupts the other processes too: who waits for them fails, and cleans up.
  await runBench(given, { write, tell }).catch((error: unknown) => {
    throw signal.aborted ? signal.reason : error;
  });
  return exitCodes.done;
};
