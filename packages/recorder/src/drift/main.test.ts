import { runToExitCode } from "evaluator-kit";
import { createTestContext } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { toLiveContext } from "../live/live-context.ts";
import { runProgram } from "../testing/run-program.ts";
import { startEmulator } from "../testing/start-emulator.ts";
import { driftProgramOptions, runDrift } from "./run-drift.ts";

test("compares over HTTP, in CI too", async () => {
  const env = { ...(await startEmulator()), CI: "true" };
  const outcome = await runProgram("drift", [], env);
  expect(outcome).toEqual({ stdout: "Compared 30 of 30: no drift\n", stderr: "" });
});

test("mistyped words are told with how the comparison is typed", async () => {
  const context = createTestContext();
  const options = { ...driftProgramOptions, context };
  const exitCode = await runToExitCode(
    (words, given) => runDrift(words, toLiveContext(given)),
    ["--fast"],
    options,
  );
  expect({ exitCode, ...context.printed }).toEqual({
    exitCode: 1,
    stdout: "",
    stderr: `Unknown option '--fast'; no options are taken here.\nFor its options: npm run drift -- --help\n`,
  });
});
