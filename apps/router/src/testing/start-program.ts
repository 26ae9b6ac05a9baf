import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { InterruptedError, runToExitCode } from "evaluator-kit";
import { compileCache, createTestContext } from "evaluator-kit/testing";
import { onTestFinished } from "vitest";
import { evaluatorRouter } from "../program.ts";
import { keepOutput, plantedKey } from "./keep-output.ts";

/** What a program printed, and how it ended. */
export interface ProgramEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Starts a program of this workspace, by its path in `src/`, with nothing in its environment but
 * what is given and the planted key, as the key of the vendor's own API.
 */
export function startProgram(path: string, env: Record<string, string>, args: string[] = []) {
  const file = fileURLToPath(new URL(`../${path}`, import.meta.url));
  const child = spawn(process.execPath, [file, ...args], {
    env: { ...compileCache, EVALUATOR_DIRECT_API_KEY: plantedKey, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const keep = keepOutput();
  const ended = Promise.all([once(child, "exit"), text(child.stdout), text(child.stderr)]).then(
    ([[code], stdout, stderr]): ProgramEnd => {
      keep([stdout, stderr]);
      return { code, stdout, stderr };
    },
  );
  return { child, ended, firstOutput: once(child.stdout, "data"), keep };
}

/**
 * Starts the router in this process, as `main.ts` does in its own, without loading every module
 * anew; the end of the test ends it, as SIGTERM does.
 */
function startHere(env: Record<string, string>, words: string[]) {
  const keep = keepOutput();
  const [stdout, stderr] = [keepPrinted(), keepPrinted()];
  const interruption = new AbortController();
  const interrupt = () => interruption.abort(new InterruptedError("SIGTERM"));
  const context = createTestContext({
    env: { EVALUATOR_DIRECT_API_KEY: plantedKey, ...env },
    signal: interruption.signal,
    stdout,
    stderr,
  });
  const [program, options] = evaluatorRouter;
  const ended = runToExitCode(program, words, { ...options, context }).then((code): ProgramEnd => {
    const printed = { stdout: stdout.text, stderr: stderr.text };
    keep(printed);
    stdout.first.resolve("");
    stderr.first.resolve("");
    return { code, ...printed };
  });
  onTestFinished(() => {
    interrupt();
    return ended.then(() => undefined);
  });
  const [firstOutput, firstWarning] = [stdout.first.promise, stderr.first.promise];
  return { interrupt, ended, firstOutput, firstWarning, keep };
}

/** Starts the router so; `origin` is the address it prints first, "" when it prints none. */
export function startRouterHere(env: Record<string, string>, words: string[] = []) {
  const started = startHere(env, words);
  const origin = started.firstOutput.then((text) => /http:\S+/.exec(text)?.[0] ?? "");
  return { ...started, origin };
}

function keepPrinted() {
  const kept = {
    text: "",
    first: Promise.withResolvers<string>(),
    isTTY: true, // otherwise SIGHUP is listened for to the end of the process
    write(text: string) {
      kept.text += text;
      kept.first.resolve(text);
    },
  };
  return kept;
}

/** Runs a command in this process, as `main.ts` does in its own, to its end. */
export async function runHere(
  command: string,
  env: Record<string, string>,
  words: string[] = [],
): Promise<ProgramEnd> {
  return startHere(env, [command, ...words]).ended;
}
