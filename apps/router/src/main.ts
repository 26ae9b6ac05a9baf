import process from "node:process";
import { describeDefect } from "./describe-defect.ts";
import { describeStartFailure } from "./describe-start-failure.ts";
import { readArguments } from "./options/read-arguments.ts";
import { parseRouterOptions } from "./options/router-options.ts";
import { runRouter } from "./run-router.ts";

const stop = new AbortController();
// Once: the second signal ends the process at once.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop.abort());

// A SIGTERM to `npm start` ends npm and its shell, which passes it on to nobody: this process is only
// left to another parent.
const parent = process.ppid;
if (process.env["npm_lifecycle_event"] !== undefined) {
  setInterval(() => process.ppid === parent || stop.abort(), 250).unref();
}

try {
  const env = { ...process.env, ...readArguments(process.argv.slice(2)) };
  await runRouter(parseRouterOptions(env), {
    signal: stop.signal,
    write: (text) => process.stdout.write(text),
    warn: (text) => process.stderr.write(text),
    onHangUp(listener) {
      if (!process.stdout.isTTY) process.on("SIGHUP", listener); // there it says that the terminal is gone
    },
    reportDefect: (error) => process.stderr.write(describeDefect(error)),
  });
} catch (error) {
  process.stderr.write(describeStartFailure(error));
  process.exitCode = 1;
}
