import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { startTriage } from "./testing/start-triage.ts";

const nasty = "a\u001b[2J\u202e\nWrote  b";

test.each([
  [[`${nasty}.json`]],
  [[`${nasty}.txt`]],
  [[`${nasty}.triage.json`]],
  [[`--${nasty}`]],
  [["in.json", "--questions", nasty]],
  [["import", nasty, `${nasty}.json`]],
  [["import", ".", `${nasty}.json`]],
  [["report", `${nasty}.json`]],
  [["explain", nasty, `${nasty}.json`]],
  [["explain", nasty]],
])("no word of %j steers the terminal or forges a line", async (words) => {
  const cwd = join(await temporaryFolder(), nasty);
  await mkdir(cwd);
  const { exitCode, stdout, stderr } = await startTriage(words, { cwd });
  expect(exitCode).toBeLessThan(65);
  expect(`${stdout}${stderr}`.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(stderr).not.toMatch(/^Wrote {2}b/m);
});
