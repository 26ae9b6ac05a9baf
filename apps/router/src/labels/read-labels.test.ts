import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { runHere } from "../testing/start-program.ts";

const decision = JSON.stringify({
  requestId: "a",
  tierChosen: "nano",
  probabilities: { nano: 1, fast: 0, balanced: 0, frontier: 0 },
  confidence: 1,
});
const feedback = '{"requestId":"a","feedback":"nano"}';
const cutLine = '{"time":"2026-11-';

async function fileOf(...lines: string[]) {
  const path = join(await temporaryFolder(), "lines.ndjson");
  await writeFile(path, lines.join("\n"));
  return path;
}

test.each([
  [[decision, feedback, cutLine], "Passed over line 3, which is no record.\n"],
  [[decision, cutLine, feedback], "Passed over line 2, which is no record.\n"],
  [
    [cutLine, decision, feedback, cutLine],
    "Passed over 2 lines that are no records; the first is line 1.\n",
  ],
])("lines of a log that a killed router cut are passed over: %j", async (lines, warning) => {
  const path = await fileOf(...lines);
  const labels = await runHere("labels", {}, [path]);
  expect(labels).toMatchObject({ code: 0, stderr: warning });
  expect(labels.stdout).toMatch(/^Labels: 1\./);
  for (const command of ["eval", "fit"]) {
    const { stdout, stderr } = await runHere(command, {}, [path, "--out", `${path}.${command}`]);
    expect(stderr).toContain(warning);
    expect(stdout).not.toBe("");
  }
});

test.each([
  ["prompt,tier", "looks like a table (CSV). Write one JSON object in each line (NDJSON)."],
  ['[{"prompt":"hi","tier":"nano"}]', "is a list. Write one JSON object in each line (NDJSON)."],
  ['{"prompt":"hi","tier":', "is no JSON object. Write one JSON object in each line (NDJSON)."],
  ["{\0}\0", "is UTF-16. Save the file as UTF-8."],
])("%j among prompts ends eval and fit with its place and form", async (line, problem) => {
  const path = await fileOf('{"prompt":"hi","tier":"nano"}', line);
  for (const command of ["labels", "eval", "fit"]) {
    const { code, stderr } = await runHere(command, {}, [path]);
    expect([code, stderr]).toEqual([1, `${JSON.stringify(path)}, line 2: ${problem}\n`]);
  }
});

test("a file without labels is named", async () => {
  const path = await fileOf("");
  for (const command of ["eval", "fit"]) {
    const { code, stderr } = await runHere(command, {}, [path]);
    expect(code).toBe(1);
    expect(stderr).toContain(`${path} has no labelled prompt. Give prompts with tier or scores`);
  }
});
