import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lockBeside } from "evaluator-runs/source";
import { expect, test } from "vitest";
import { calibrate, folderWith, run } from "./testing/run.ts";

const june = { prefix: "june", questionHash: "asked" };
const files = ["calibration/calibration.json", "--labels", "labels.ndjson"];
const check = ["check", ...files, "--answers", "answers.ndjson", "--state", "alarm.json"];

/** Returns a folder with promises of yes and of no, and labels of 400 other records. */
async function promisedFolder(later: Parameters<typeof folderWith>[1] = {}) {
  const folder = await folderWith(1200, { questionHash: "asked" });
  await run(folder, calibrate);
  await folderWith(400, { ...june, ...later }, folder);
  return folder;
}

test("new labels are added once, and the file holds no id", async () => {
  const folder = await promisedFolder();
  const first = await run(folder, check);
  expect(first.exitCode).toBe(0);
  expect(first.stdout)
    .toBe(`The chance of a false alarm is at most 5 % in all runs. A risk below the promised one raises none.
no alarm           scam: act on "yes" at 0.90 and above, at most 5 % wrong: 4 of 200 wrong (evidence 0.04; 40 is an alarm)
no alarm           scam: act on "no" at 0.92 and above, at most 5 % wrong: 4 of 200 wrong (evidence 0.04; 40 is an alarm)
`);
  const state = await readFile(join(folder, "alarm.json"), "utf8");
  expect(await run(folder, check)).toEqual(first);
  expect(await readFile(join(folder, "alarm.json"), "utf8")).toBe(state);
  expect(state).not.toContain("june");
  expect((await stat(join(folder, "alarm.json"))).mode & 0o777).toBe(0o600);
  expect((await readdir(folder)).filter((name) => name.endsWith(".lock"))).toEqual([]);
  await folderWith(100, { ...june, prefix: "july" }, folder);
  expect((await run(folder, check)).stdout).toMatch(/"yes" .* 5 of 250 wrong/);
});

test("a column whose values repeat among the labels is named", async () => {
  const folder = await promisedFolder();
  const answered = check.slice(0, -2);
  expect((await run(folder, answered)).stdout).not.toContain("may not be independent");
  const path = join(folder, "labels.ndjson");
  const labels = (await readFile(path, "utf8")).trimEnd().split("\n");
  const threads = labels.map((line, at) => line.replace("{", `{"thread":"t${at % 40}",`));
  await writeFile(path, threads.join("\n"));
  const named =
    '400 labels come from 40 values of "thread"; labels of one may not be independent (pick --one-per thread).\n';
  expect((await run(folder, answered)).stdout).toContain(named);
  expect((await run(folder, check)).stdout).toContain(named);
});

test("an alarm ends with 1, and stays after good labels", async () => {
  const folder = await promisedFolder({ wrongEvery: 5 });
  const raised = await run(folder, check);
  expect(raised.exitCode).toBe(1);
  expect(raised.stdout).toMatch(/^alarm {14}scam: act on "yes" .*: 80 of 200 wrong/m);
  await folderWith(1200, { ...june, prefix: "july", wrongEvery: 2000 }, folder);
  const later = await run(folder, [...check, "--json"]);
  expect(later.exitCode).toBe(1);
  const { checks } = JSON.parse(later.stdout) as { checks: object[] };
  expect(checks[0]).toMatchObject({ n: 800, wrong: 80, verdict: "alarm", needed: 40 });
});

test("labels of records that were not acted on do not count", async () => {
  const folder = await promisedFolder();
  const text = await readFile(join(folder, "answers.ndjson"), "utf8");
  const unsure = text.replace(/"probability":[\d.]+/g, (found, at: number) =>
    at % 2 === 0 ? '"probability":0.5' : found,
  );
  await writeFile(join(folder, "answers.ndjson"), unsure);
  const left = unsure.split("\n").filter((line) => /"probability":0\.9/.test(line)).length;
  expect(left).toBeLessThan(190);
  expect((await run(folder, check)).stdout).toMatch(new RegExp(`"yes" .* of ${left} wrong`));
});

test("labels that were drawn with different probabilities count by their weights", async () => {
  const folder = await promisedFolder({ wrongEvery: 5 });
  const text = await readFile(join(folder, "labels.ndjson"), "utf8");
  const rows = text.trimEnd().split("\n");
  const weighted = rows.map((row, index) =>
    row.replace("{", `{"weight":${index % 5 < 3 ? 8 : 1},`),
  );
  await writeFile(join(folder, "labels.ndjson"), weighted.join("\n"));
  const { stdout } = await run(folder, [...check, "--json"]);
  const { checks } = JSON.parse(stdout) as { checks: { n: number; wrong: number }[] };
  // 120 right ones with a weight of 8, and 80 wrong ones.
  expect(checks[0]?.n).toBeLessThan(145);
  expect(checks[0]?.wrong).toBeLessThan(25);
});

test("a file of another calibration or another form is refused and kept", async () => {
  const folder = await promisedFolder();
  await run(folder, check);
  const state = await readFile(join(folder, "alarm.json"), "utf8");
  const others = [state.replace(/"artifact":"\w+"/, '"artifact":"3f0c9e1b2d4a5c6d"'), "[]", "{"];
  for (const other of others) {
    await writeFile(join(folder, "alarm.json"), other);
    const { exitCode, stdout, stderr } = await run(folder, check);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain("alarm.json holds no alarms of this calibration. Name another file");
    expect(await readFile(join(folder, "alarm.json"), "utf8")).toBe(other);
  }
});

test("a second process on one file is refused, and its labels can be added later", async () => {
  const folder = await promisedFolder();
  const unlock = lockBeside(join(folder, "alarm.json"), "");
  const { exitCode, stdout, stderr } = await run(folder, check);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  expect(stderr).toContain("alarm.json is in use by another check; wait for its end");
  unlock();
  expect((await run(folder, check)).exitCode).toBe(0);
  const missing = await run(folder, [...check, "--state", "none/alarm.json"]);
  expect(missing).toMatchObject({ exitCode: 1, stdout: "" });
  expect(missing.stderr).toMatch(/alarm\.json: no such file or directory\. Check the path\.\n$/);
});
