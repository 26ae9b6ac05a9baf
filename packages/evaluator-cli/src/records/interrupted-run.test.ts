import { InterruptedError } from "evaluator-kit";
import { expect, test } from "vitest";
import { folderOf, runTable as run, tickets } from "../testing/tickets.ts";

test("an interruption while the records are read is no problem of the file", async () => {
  const cwd = await folderOf({ "t.csv": tickets });
  const signal = AbortSignal.abort(new InterruptedError("SIGTERM"));
  const outcome = await run(cwd, ["t.csv"], { signal });
  expect(outcome).toMatchObject({ exitCode: 143, stdout: "" });
  expect(outcome.stderr).toMatch(/^Interrupted\.$/m);
  expect(outcome.stderr).not.toContain("t.csv");
});
