import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { compileCache } from "evaluator-kit/testing";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

/** Starts a program of this package as npm does: in the repository, with the environment given. */
export function runProgram(
  program: "record" | "drift",
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
) {
  const words = [`packages/recorder/src/${program}/main.ts`, ...argv];
  return promisify(execFile)(process.execPath, words, {
    cwd: root,
    env: { ...compileCache, ...env },
  });
}
