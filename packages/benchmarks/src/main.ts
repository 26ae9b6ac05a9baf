import process from "node:process";
import { readBenchArguments } from "./arguments/bench-arguments.ts";
import { usage } from "./arguments/usage.ts";
import { runBench } from "./run-bench.ts";

let isInterrupted = false;
// The terminal interrupts the other processes too: who waits for them fails, and cleans up.
process.once("SIGINT", () => (isInterrupted = true));

try {
  // `npm run` changes to the root; paths are relative to where the person stands.
  const cwd = process.env.INIT_CWD ?? process.cwd();
  const given = readBenchArguments(process.argv.slice(2), cwd);
  const write = process.stdout.write.bind(process.stdout);
  if (given.help) write(usage);
  else await runBench(given, { write, tell: (line) => process.stderr.write(`… ${line}\n`) });
} catch (error) {
  process.stderr.write(isInterrupted ? "Interrupted.\n" : describeFailure(error));
  process.exitCode = isInterrupted ? 130 : 1;
}

function describeFailure(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return `${message}\nnpm run bench -- --help says what can be given.\n`;
}
