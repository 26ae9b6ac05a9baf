import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calibrate, folderWith, run } from "./testing/run.ts";
import { folderOf, runTable } from "./testing/tickets.ts";

test("check names --answers if the labels hold none", async () => {
  const folder = await folderWith(1000);
  await run(folder, calibrate);
  const words = ["check", "calibration/calibration.json", "--labels", "labels.ndjson"];
  const { exitCode, stderr } = await run(folder, words);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(
    /labels\.ndjson line 1: .+ Name --answers, or give each label its answer\./,
  );
});

test("a file that is no calibration is refused in plain words", async () => {
  const folder = await folderOf({ "labels.ndjson": "" });
  expect(await run(folder, ["check", "q.json", "--labels", "labels.ndjson"])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("q.json is not a calibration: kind is missing or wrong."),
  });
});

test.each(["status", "export", "label"])("%s names an input that is missing", async (name) => {
  const { exitCode, stderr } = await run(await folderOf({}), [name, "none.csv"]);
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringMatching(
      /^Cannot read .*none\.csv: no such file or directory\. Check the path\.\n/,
    ),
  ]);
});

test("--skip-invalid is not advised while it is on, and a line that it cannot leave out is explained", async () => {
  const cwd = await folderOf({
    "blank.csv": "id,body\na,\nb,Hello\n",
    "ragged.csv": "id,body\na,Hello, there\nb,Bye\n",
  });
  const plain = await runTable(cwd, ["blank.csv", "--dry-run"]);
  expect(plain.stderr).toContain("fill it, or leave the record out with --skip-invalid");
  const skipped = await runTable(cwd, ["blank.csv", "--dry-run", "--skip-invalid"]);
  expect(skipped.stdout + skipped.stderr).toMatch(/has a blank state$/m);
  const cut = await runTable(cwd, ["ragged.csv", "--dry-run", "--skip-invalid"]);
  expect(cut.stderr).toContain("--skip-invalid cannot leave out this line");
});

test("a column without a name has the next step, and a suggested name is quoted for the shell", async () => {
  const cwd = await folderOf({
    "index.csv": ",id,body\n0,a,Hello\n",
    "excel.csv": "id,body,\na,Hello,\n",
    "spaces.csv": "id,the body,refund\na,Hello,yes\n",
  });
  const said = async (file: string) => (await runTable(cwd, [file, "--dry-run"])).stderr;
  expect(await said("index.csv")).toContain("column 1 has no name; pandas leaves it out with");
  expect(await said("excel.csv")).toContain("column 3 has no name; name it or delete the column");
  expect(await said("spaces.csv")).toContain("such as --state 'the body'");
});

test("the advice about dependent labels quotes a column with a space", async () => {
  const folder = await folderWith(120);
  const rows = Array.from({ length: 120 }, (_, at) => {
    return { id: `r${at}`, truth: at % 2 === 0, "the thread": `t${Math.floor(at / 10)}` };
  });
  await writeFile(
    join(folder, "labels.ndjson"),
    rows.map((row) => `${JSON.stringify(row)}\n`).join(""),
  );
  expect((await run(folder, calibrate)).stdout).toContain("(--one-per 'the thread')");
});
