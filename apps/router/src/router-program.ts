import process from "node:process";
import {
  describeDefect,
  exitCodes,
  InterruptedError,
  type Program,
  type ProgramOptions,
} from "evaluator-kit";
import { ConfigurationError } from "evaluator-client";
import { parseRouterOptions, readArguments } from "./options/router-options.ts";
import { runRouter } from "./run-router.ts";

const name = "The router";

/** What the program is called, how it is typed, and whose messages are for a person. */
export const routerProgramOptions: ProgramOptions = {
  name,
  help: {
    command: "npm start --",
    usage: `Usage: npm start -- [--host <address>] [--port <number>]

Starts the router and its page; without a key, the emulator on this machine answers.

  --host <address>  other than loopback only with ROUTER_ACCESS_TOKEN (127.0.0.1)
  --port <number>   0 takes any free one (3000)

The rest is set in .env or the environment: .env.example names every variable.

Examples
  npm start
  npm start -- --port 8080`,
  },
  isForPerson: (error) => error instanceof ConfigurationError,
};

/** Runs the router until it is interrupted, and returns its exit code. */
export const routerProgram: Program = async (words, { env, stdout, stderr, signal }) => {
  const options = parseRouterOptions({ ...env, ...readArguments(words) });
  await runRouter(options, {
    signal: AbortSignal.any([signal, endOfNpm(env["npm_lifecycle_event"])]),
    stdout,
    stderr,
    reportDefect: (error) => void stderr.write(describeDefect(error, name)),
    onHangUp(listener) {
      if (stdout.isTTY !== true) process.on("SIGHUP", listener); // there it says that the terminal is gone
    },
  });
  return exitCodes.done;
};

/**
 * Aborts when npm is gone that started this process. A SIGTERM to `npm start` ends npm and its shell,
 * which passes it on to nobody: all that happens here is that another process becomes the parent.
 */
function endOfNpm(script: string | undefined): AbortSignal {
  const end = new AbortController();
  const parent = process.ppid;
  if (script !== undefined) {
    setInterval(
      () => process.ppid === parent || end.abort(new InterruptedError("SIGTERM")),
      250,
    ).unref();
  }
  return end.signal;
}
