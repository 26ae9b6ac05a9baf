import { createInterface } from "node:readline/promises";
import { systemClock } from "./clock.ts";
import { openCatalog } from "./open-catalog.ts";
import { openTransport } from "./open-transport.ts";
import { runTriage } from "./run-triage.ts";

const interruption = new AbortController();
process.on("SIGINT", () => {
  if (interruption.signal.aborted) process.exit(130);
  interruption.abort();
});

// A reader that has seen enough, as in `| head`, ends the printing and not the run.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

async function confirm(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // The terminal's own, which otherwise ends the question and not the run.
  terminal.once("SIGINT", () => interruption.abort());
  const answer = await terminal
    .question(question, { signal: interruption.signal })
    .catch(() => "no");
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

process.exitCode = await runTriage(process.argv.slice(2), {
  env: process.env,
  // npm runs scripts in the repository's folder and says here where the person stands.
  cwd: process.env.INIT_CWD ?? process.cwd(),
  stdout: process.stdout,
  stderr: process.stderr,
  signal: interruption.signal,
  clock: systemClock,
  confirm: process.stdin.isTTY && process.stderr.isTTY ? confirm : null,
  openTransport,
  openCatalog,
});
