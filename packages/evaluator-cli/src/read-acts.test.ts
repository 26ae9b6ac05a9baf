import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { acts, labels, writeLines } from "./testing/acts.ts";
import { run } from "./testing/run.ts";

test("lines that differ in their id only are read like any other", async () => {
  const folder = await temporaryFolder();
  const auditOfTexts = async (texts: readonly string[]) => {
    await writeFile(join(folder, "acts.ndjson"), texts.join("\n"));
    await writeLines(folder, "later.ndjson", labels(acts(60)));
    return await run(folder, ["audit", "acts.ndjson", "--labels", "later.ndjson"]);
  };
  const texts = acts(60).map((act) => JSON.stringify(act));
  const end = texts[0]?.slice('{"id":"t0",'.length) ?? "";
  const kept = "refund no: kept, 0 wrong of 60 (at most 4.9 %, with 95 % confidence)\n";
  const spaced = texts.with(1, `  {"id" : "t1", ${end}`).with(2, `{"id":"\\u00742",${end}`);
  expect((await auditOfTexts(spaced)).stdout).toBe(kept);
  const twice = `{"id":"x",${end.slice(0, -1)},"id":"t0"}`;
  expect((await auditOfTexts([twice, ...texts.slice(1)])).stdout).toBe(kept);
  const broken = {
    [`{"id":"a"},${end}`]: "line 2: is not JSON; check line 2 column 11",
    [`{"id":a,${end}`]: "line 2: is not JSON",
    [`{"id":"a",${end}]`]: `line 2: is not JSON; check line 2 column ${11 + end.length}`,
    [`{"id":7,${end}`]: "line 2: id is missing or wrong",
    [`{"id":"",${end}`]: "line 2: id is missing or wrong",
  };
  for (const [text, problem] of Object.entries(broken)) {
    const { exitCode, stdout, stderr } = await auditOfTexts([texts[0] ?? "", text]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain(problem);
  }
});

test("pick --acts draws acts uniformly without showing them, in any order of the lines", async () => {
  const folder = await temporaryFolder();
  const rows = [...acts(40), ...acts(60, { act: "yes", prefix: "y" })];
  await writeLines(folder, "acts.ndjson", rows);
  await writeLines(folder, "turned.ndjson", rows.toReversed());
  const pick = (name: string) => run(folder, ["pick", "--acts", name, "--budget", "20"]);
  const { exitCode, stdout, stderr } = await pick("acts.ndjson");
  expect({ exitCode, stdout: (await pick("turned.ndjson")).stdout }).toEqual({
    exitCode: 0,
    stdout,
  });
  expect(stderr).toContain("Drew 20 of 100 records");
  expect(stderr).toContain("give the sheet to audit");
  const sheet = stdout.trimEnd().split("\n");
  expect(sheet).toHaveLength(20);
  const [row] = sheet.map((line) => JSON.parse(line) as object);
  expect(row).toMatchObject({ question: "refund", truth: null, drawn: 0.2 });
  expect(Object.keys(row ?? {})).toEqual(["id", "question", "truth", "drawn"]);
  expect(sheet.filter((line) => line.includes('"y')).length).toBeGreaterThan(5);
  await writeLines(folder, "two.ndjson", [...rows, ...acts(9, { question: "spam" })]);
  expect((await pick("two.ndjson")).stderr).toContain("Choose one with --question: refund, spam.");
});
