import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { type Program, type ProgramOptions, runToExitCode } from "evaluator-cli-kit";
import { compileCache, createTestContext } from "evaluator-cli-kit/testing";
import { keepTold, plantedKey } from "./keep-told.ts";

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
  const keep = keepTold();
  const ended = Promise.all([once(child, "exit"), text(child.stdout), text(child.stderr)]).then(
    ([[code], stdout, stderr]): ProgramEnd => {
      keep([stdout, stderr]);
      return { code, stdout, stderr };
    },
  );
  return { child, ended, firstOutput: once(child.stdout, "data"), keep };
}

/** Runs a program in this process, as its `main.ts` does in its own, to its end. */
export async function runHere(
  [program, options]: readonly [Program, ProgramOptions],
  env: Record<string, string>,
  words: readonly string[] = [],
): Promise<ProgramEnd> {
  const keep = keepTold();
  const context = createTestContext({ env: { EVALUATOR_DIRECT_API_KEY: plantedKey, ...env } });
  const code = await runToExitCode(program, words, { ...options, context });
  keep(context.printed);
  return { code, ...context.printed };
}
