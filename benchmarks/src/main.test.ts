import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { runToExitCode } from "evaluator-kit";
import { createTestContext } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { benchProgram } from "./bench-program.ts";
import { targets } from "./targets.ts";

const main = fileURLToPath(new URL("main.ts", import.meta.url));

/** Runs the program in this process, as `main.ts` does in its own, to its end. */
async function endOf(...words: string[]) {
  const context = createTestContext({ cwd: import.meta.dirname });
  const code = await runToExitCode(benchProgram(), words, { name: "The benchmark", context });
  return { code, ...context.printed };
}

test("--help names every part and every target", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [main, "--help"]);
  expect(stdout).toMatch(
    /only these parts: calls,\s+doors,\s+gateways,\s+router,\s+serverless,\s+stream,\s+triage/,
  );
  for (const name of Object.keys(targets)) expect(stdout).toContain(name);
});

test("a mistyped word ends it with what can be given, before anything is measured", async () => {
  expect(await endOf("--only", "cals")).toEqual({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(
      /argument 'cals' is invalid. Use some of calls, .*\nFor its options: npm run bench -- --help\n$/,
    ),
  });
});

test("a folder without a client is named, with what to give instead", async () => {
  expect(await endOf("--only", "calls", "--against", import.meta.dirname)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/There is no client in .*benchmarks\/src; name a checkout/),
  });
});
