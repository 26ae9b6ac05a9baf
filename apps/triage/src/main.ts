import { openEvaluator } from "./open-evaluator.ts";
import { runTriage } from "./run-triage.ts";

const interruption = new AbortController();
// Only the first Ctrl-C: a second one ends the process at once.
process.once("SIGINT", () => interruption.abort());

// A reader that has seen enough, as in `| head`, ends the printing and not the run.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

process.exitCode = await runTriage(process.argv.slice(2), {
  env: process.env,
  // npm runs scripts in the repository's folder and says here where the person stands.
  cwd: process.env.INIT_CWD ?? process.cwd(),
  stdout: process.stdout,
  stderr: process.stderr,
  signal: interruption.signal,
  openEvaluator,
});
