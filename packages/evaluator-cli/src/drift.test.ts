import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { questionHash } from "evaluator-calibration";
import { expect, test } from "vitest";
import { calibrate, folderWith, run } from "./testing/run.ts";

test("drift: no change, change without labels, and worse with them", async () => {
  const folder = await folderWith(1000);
  await folderWith(1000, { name: "same.ndjson", modelId: "maker/judge-8", labels: false }, folder);
  const same = await run(folder, ["drift", "--before", "answers.ndjson", "--after", "same.ndjson"]);
  expect(same).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining("scam: no change shown."),
  });
  const text = await readFile(join(folder, "answers.ndjson"), "utf8");
  const moved = text.replace(/"probability":0\.9\d/g, (found, at: number) =>
    at % 3 === 0 ? '"probability":0.4' : found,
  );
  await writeFile(join(folder, "after.ndjson"), moved);
  const drift = ["drift", "--before", "answers.ndjson", "--after", "after.ndjson"];
  const changed = await run(folder, drift);
  expect(changed).toMatchObject({ exitCode: 1, stdout: expect.stringContaining("scam: changed.") });
  expect(changed.stdout).not.toContain("worse");
  // No permutation is as far apart: 999 show no smaller chance.
  expect(changed.stdout).toMatch(
    /stability index [\d.]+ \(p ≤ 0\.001\), largest distance [\d.]+ \(p ≤ 0\.001\)/,
  );
  const judged = await run(folder, [...drift, "--labels", "labels.ndjson"]);
  expect(judged.exitCode).toBe(1);
  expect(judged.stdout).toMatch(/only before right \d+, only after right \d+ \(p < 0\.001\)/);
  const better = await run(folder, [
    "drift",
    "--before",
    "after.ndjson",
    "--after",
    "answers.ndjson",
    "--labels",
    "labels.ndjson",
  ]);
  expect(better.exitCode).toBe(0);
});

test("drift: labels of the surest answers show figures and no verdict", async () => {
  const folder = await folderWith(1000);
  const rows = (await readFile(join(folder, "labels.ndjson"), "utf8")).split("\n");
  // Each row of the folder has one of seven printed values.
  const sure = rows.filter((_, index) => index % 7 === 6);
  await writeFile(join(folder, "labels.ndjson"), sure.join("\n"));
  const words = ["--before", "answers.ndjson", "--after", "answers.ndjson"];
  const drift = await run(folder, ["drift", ...words, "--labels", "labels.ndjson"]);
  expect(drift).toMatchObject({
    exitCode: 3,
    stdout: expect.stringContaining("  Brier    0.0000 ("),
  });
  expect(drift.stderr).toContain("The labelled records are no random draw");
});

test("drift tries no promise about exactly some records, which holds for the answers of that time", async () => {
  const folder = await folderWith(1000);
  expect((await run(folder, calibrate)).exitCode).toBe(0);
  const path = join(folder, "calibration", "calibration.json");
  const artifact = JSON.parse(await readFile(path, "utf8")) as { thresholds: object[] };
  const words = ["--before", "answers.ndjson", "--after", "answers.ndjson"];
  const drift = ["drift", ...words, "--labels", "labels.ndjson", "--calibration", path];
  const tried = await run(folder, drift);
  expect(tried.stdout).toMatch(/at most 5 % wrong/);
  const these = { unlabelled: 1, mostWrong: 0, records: [] };
  const thresholds = artifact.thresholds.map((one) => Object.assign(one, { these }));
  await writeFile(path, JSON.stringify({ ...artifact, thresholds }));
  const left = await run(folder, drift);
  expect(left.exitCode).toBe(3);
  expect(left.stdout).not.toContain("wrong");
  expect(left.stderr).toContain("is not tried on another release");
});

test("drift with labels that test nothing has no verdict, and says why", async () => {
  const folder = await folderWith(1000);
  await run(folder, calibrate);
  const words = ["--before", "answers.ndjson", "--after", "answers.ndjson", "--labels"];
  const drift = async (...more: string[]) => await run(folder, ["drift", ...words, ...more]);
  const tested = ["--calibration", "calibration/calibration.json"];
  expect(await drift("labels.ndjson", ...tested)).toMatchObject({ exitCode: 0, stderr: "" });
  const rows = (await readFile(join(folder, "labels.ndjson"), "utf8")).trimEnd().split("\n");
  await writeFile(join(folder, "unknown.ndjson"), rows[0]?.replace('"r', '"x') ?? "");
  expect(await drift("unknown.ndjson", "--allow-unknown", ...tested)).toMatchObject({
    exitCode: 3,
    stderr: "No label has an answer in both releases.\n",
  });
  await writeFile(join(folder, "few.ndjson"), rows.slice(0, 6).join("\n"));
  expect(await drift("few.ndjson")).toMatchObject({ exitCode: 0 });
  expect(await drift("few.ndjson", ...tested)).toMatchObject({
    exitCode: 3,
    stdout: expect.stringContaining("not enough labels"),
    stderr: "Label more records to test the promise.\n",
  });
  await writeFile(
    join(folder, "sure.ndjson"),
    rows.filter((_, at) => (90 + (at % 7)) % 100 > 94).join("\n"),
  );
  expect(await drift("sure.ndjson", ...tested)).toMatchObject({
    exitCode: 3,
    stdout: expect.stringContaining("no fair draw"),
    stderr: expect.stringContaining("The labelled records are no random draw"),
  });
});

test("drift names a column whose values repeat among the labels", async () => {
  const folder = await folderWith(600);
  await run(folder, calibrate);
  const words = ["--before", "answers.ndjson", "--after", "answers.ndjson"];
  const drift = async () => await run(folder, ["drift", ...words, "--labels", "labels.ndjson"]);
  expect((await drift()).stderr).toBe("");
  const path = join(folder, "answers.ndjson");
  const answers = (await readFile(path, "utf8")).trimEnd().split("\n");
  const inThreads = answers.map((line, at) => line.replace("{", `{"thread":"t${at % 50}",`));
  await writeFile(path, inThreads.join("\n"));
  const sentence = "labels of one may not be independent (pick --one-per thread).\n";
  expect(await drift()).toMatchObject({
    exitCode: 0,
    stderr: `600 labels come from 50 values of "thread"; ${sentence}`,
  });
  expect(await run(folder, ["drift", ...words])).toMatchObject({
    exitCode: 0,
    stderr:
      '600 answers are of 50 values of "thread"; they may change together, so more differences are due to chance.\n',
  });
});

test("drift tests no promise on answers that may be to other questions", async () => {
  const asked = { questionHash: "asked" };
  const folder = await folderWith(1200, asked);
  await run(folder, calibrate);
  const files = ["--before", "answers.ndjson", "--after", "after.ndjson"];
  const words = ["drift", ...files, "--labels", "labels.ndjson"];
  const tested = [...words, "--calibration", "calibration/calibration.json"];
  const after = { name: "after.ndjson", labels: false };
  await folderWith(1200, { ...after, questionHash: "other" }, folder);
  expect(await run(folder, tested)).toMatchObject({
    exitCode: 1,
    stdout: "",
    stderr: expect.stringContaining("scam are to other questions than the promised thresholds"),
  });
  expect(await run(folder, words)).toMatchObject({ exitCode: 0 });
  await folderWith(1200, after, folder);
  expect(await run(folder, tested)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("add --questions q.json. Leave --calibration out"),
  });
  const questions = { scam: { type: "boolean", instructions: "Is it a scam?" } } as const;
  await writeFile(join(folder, "q.json"), JSON.stringify(questions));
  const path = join(folder, "calibration", "calibration.json");
  const text = await readFile(path, "utf8");
  await writeFile(path, text.replace('"asked"', JSON.stringify(questionHash(questions))));
  expect(await run(folder, [...tested, "--questions", "q.json"])).toMatchObject({ exitCode: 0 });
  await writeFile(path, text);
  await folderWith(1200, { ...after, ...asked }, folder);
  expect(await run(folder, tested)).toMatchObject({ exitCode: 0, stderr: "" });
});

test("drift says which answers it leaves out, since sources are never mixed", async () => {
  const folder = await folderWith(60);
  const text = await readFile(join(folder, "answers.ndjson"), "utf8");
  const recorded = { id: "other", question: "scam", probability: 0.5, modelId: "maker/judge-8" };
  await writeFile(join(folder, "after.ndjson"), `${text}${JSON.stringify(recorded)}\n`);
  const words = ["drift", "--before", "answers.ndjson", "--after", "after.ndjson"];
  const { stdout } = await run(folder, words);
  expect(stdout).toContain(
    "left out maker/judge-8, 1 answer: the largest source of each release is compared",
  );
  const json = JSON.parse((await run(folder, [...words, "--json"])).stdout) as object[];
  expect(json[0]).toMatchObject({ leftAside: [{ source: { modelId: "maker/judge-8" }, n: 1 }] });
});
