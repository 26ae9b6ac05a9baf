import { execFile } from "node:child_process";
import { dirname } from "node:path";
import process from "node:process";
import { compileCache } from "evaluator-kit/testing";
import { expect, test } from "vitest";

const root = dirname(import.meta.dirname);

const printLoads = `
  import { registerHooks } from "node:module";
  import { writeSync } from "node:fs";
  registerHooks({
    load(url, context, next) {
      if (!url.startsWith("node:")) writeSync(2, "load " + url + "\\n");
      return next(url, context);
    },
  });
`;

/** Returns the paths that a program loads in the repository, and the text that it prints. */
async function loadsOf(program: string, word: string) {
  const words = ["--import", `data:text/javascript,${printLoads}`, `${program}/src/main.ts`, word];
  const options = { cwd: root, env: compileCache, encoding: "utf8" } as const;
  const output = await new Promise<{ stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, words, options, (_error, stdout, stderr) =>
      resolve({ stdout, stderr }),
    );
  });
  const loads = output.stderr.match(/(?<=^load .*\/)(?:node_modules|packages|apps)\/.*$/gm) ?? [];
  return { loads, printed: output.stdout + output.stderr.replaceAll(/^load .*\n/gm, "") };
}

// Each bound is the count of today and two more. A schema alone loads a hundred.
test.each([
  ["packages/evaluator-cli", "--help", 51, "Usage: evaluator-cli"],
  ["packages/evaluator-cli", "--nothing", 51, "Unknown option '--nothing'"],
  ["packages/evaluator-emulator", "--help", 38, "Usage: evaluator-emulator"],
  ["packages/evaluator-emulator", "--nothing", 38, "Unknown option '--nothing'"],
  ["apps/router", "--help", 36, "Usage: evaluator-router"],
  ["apps/triage", "--help", 53, "Usage: evaluator-triage"],
])("%s %s loads no schema, no client and no command", async (program, word, most, text) => {
  const { loads, printed } = await loadsOf(program, word);
  expect(printed).toContain(text);
  expect(loads).toContain(`${program}/src/main.ts`);
  const light = /\/evaluator-client\/src\/(?:token-price|transports\/direct\/services)\.ts$/;
  const others = loads.filter((path) => !light.test(path));
  const heavy = /(?:^|\/)(?:zod|evaluator-client|evaluator-calibration|postgres|journal)\//;
  expect(others.filter((path) => heavy.test(path))).toEqual([]);
  expect(loads.length).toBeLessThanOrEqual(most);
});
