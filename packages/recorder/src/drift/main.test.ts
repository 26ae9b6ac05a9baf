import { expect, test } from "vitest";
import { runProgram } from "../testing/run-program.ts";
import { startEmulator } from "../testing/start-emulator.ts";

test("compares over HTTP, in CI too", async () => {
  const env = { ...(await startEmulator()), CI: "true" };
  const outcome = await runProgram("drift", [], env);
  expect(outcome).toEqual({ stdout: "Compared 30 of 30: no drift\n", stderr: "" });
});

test("mistyped words are told with how the comparison is typed", async () => {
  await expect(runProgram("drift", ["--fast"], {})).rejects.toMatchObject({
    code: 64,
    stdout: "",
    stderr: `Unknown option '--fast'; no options are taken here.\nFor its options: npm run drift -- --help\n`,
  });
});
