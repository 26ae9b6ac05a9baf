import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { questionHash } from "evaluator-calibration";
import { expect, test } from "vitest";
import { calibrate, folderWith, readReport, run } from "./testing/run.ts";

test("a picked sheet hides the answers, and calibrate weighs what was filled in", async () => {
  const folder = await folderWith(600);
  const picked = await run(folder, [
    "pick",
    "--answers",
    "answers.ndjson",
    "--budget",
    "90",
    "--out",
    "sheet.ndjson",
  ]);
  expect(picked.exitCode).toBe(0);
  const sheet = (await readFile(join(folder, "sheet.ndjson"), "utf8")).trimEnd().split("\n");
  expect(sheet).toHaveLength(90);
  const { mode } = await stat(join(folder, "sheet.ndjson"));
  expect(mode & 0o077).toBe(process.platform === "win32" ? mode & 0o077 : 0);
  const rows = sheet.map((line) => JSON.parse(line) as { id: string; drawn: number });
  expect(Object.keys(rows[0] ?? {})).toEqual(["id", "question", "truth", "drawn"]);
  const filled = rows.map(({ id, drawn }, index) => {
    return { id, drawn, truth: index < 80 ? Number(id.slice(1)) % 2 === 0 : null };
  });
  await writeFile(
    join(folder, "labels.ndjson"),
    filled.map((row) => JSON.stringify(row)).join("\n"),
  );
  const { stdout, exitCode } = await run(folder, calibrate);
  expect(exitCode).toBe(0);
  expect(stdout).toContain("Not filled in yet: 10 labels.");
  expect((await readReport(folder)).reports[0]).toMatchObject({ n: 80, isWeighted: true });
});

test("pick --one-per draws one record of each thread, and names a field that none has", async () => {
  const folder = await folderWith(600);
  const text = await readFile(join(folder, "answers.ndjson"), "utf8");
  const inThreads = text
    .trimEnd()
    .split("\n")
    .map((line, index) => line.replace("{", `{"thread":${Math.floor(index / 10)},`));
  await writeFile(join(folder, "answers.ndjson"), inThreads.join("\n"));
  const pick = ["pick", "--answers", "answers.ndjson", "--budget", "50", "--one-per"];
  const { stdout, exitCode } = await run(folder, [...pick, "thread"]);
  expect(exitCode).toBe(0);
  const ids = stdout
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { id: string }).id);
  expect(ids).toHaveLength(50);
  expect(new Set(ids.map((id) => Math.floor(Number(id.slice(1)) / 10))).size).toBe(50);
  const missing = await run(folder, [...pick, "sender"]);
  expect(missing.exitCode).toBe(1);
  expect(missing.stderr).toContain(
    'No record has a field "sender". Name another with --one-per, such as thread.',
  );
});

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
  expect(drift.stderr).toContain("these labels show no verdict");
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
  expect(left.stderr).toContain("it is not tried on those of another release");
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
    stderr: expect.stringContaining("these labels show no verdict"),
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
  const sentence = "labels of one value may not be independent (pick --one-per thread).\n";
  expect(await drift()).toMatchObject({
    exitCode: 0,
    stderr: `600 labels come from 50 values of "thread"; ${sentence}`,
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
    stderr: expect.stringContaining(
      "scam are to other questions than the thresholds were promised",
    ),
  });
  expect(await run(folder, words)).toMatchObject({ exitCode: 0 });
  await folderWith(1200, after, folder);
  expect(await run(folder, tested)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("--questions q.json names them for the answers"),
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
  expect(stdout).toContain("left out maker/judge-8, 1 answer: sources are never mixed");
  const json = JSON.parse((await run(folder, [...words, "--json"])).stdout) as object[];
  expect(json[0]).toMatchObject({ leftAside: [{ source: { modelId: "maker/judge-8" }, n: 1 }] });
});

test("groups are of any column of the labels, and a column that none has is named", async () => {
  const folder = await folderWith(120);
  const rows = (await readFile(join(folder, "labels.ndjson"), "utf8")).trimEnd().split("\n");
  const withSender = rows.map((line, index) => {
    return JSON.stringify(Object.assign(JSON.parse(line) as object, { sender: `s${index % 3}` }));
  });
  await writeFile(join(folder, "labels.ndjson"), withSender.join("\n"));
  expect((await run(folder, [...calibrate, "--by", "sender"])).exitCode).toBe(0);
  const [report] = (await readReport(folder)).reports;
  expect(report?.groups).toMatchObject([{ group: "s0" }, { group: "s1" }, { group: "s2" }]);
  const { exitCode, stderr } = await run(folder, [...calibrate, "--by", "month"]);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(
    'has a value in the column "month". Name another with --by, such as sender, labeler.',
  );
});

test("labels of the unsure records alone, without weights, promise nothing", async () => {
  const folder = await folderWith(1200);
  const text = await readFile(join(folder, "answers.ndjson"), "utf8");
  const answers = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { id: string; probability: number });
  const unsure = new Set(
    answers
      .filter(({ probability }) => probability < 0.92 && probability > 0.06)
      .map(({ id }) => id),
  );
  const labels = (await readFile(join(folder, "labels.ndjson"), "utf8")).trimEnd().split("\n");
  const kept = labels.filter((line) => unsure.has((JSON.parse(line) as { id: string }).id));
  await writeFile(join(folder, "labels.ndjson"), kept.join("\n"));
  const { exitCode, stdout } = await run(folder, [...calibrate, "--require", "5%"]);
  expect(exitCode).toBe(3);
  expect(stdout).toContain("differ from those of the others by more than chance");
});

test("a second pick keeps the labels of its sheet, and refuses every file that is no sheet", async () => {
  const folder = await folderWith(300);
  const path = join(folder, "sheet.ndjson");
  const pick = (budget: string, out: string) =>
    run(folder, ["pick", "--answers", "answers.ndjson", "--budget", budget, "--out", out]);
  const table = await pick("20", "sheet.csv");
  expect([table.exitCode, table.stderr]).toEqual([
    1,
    expect.stringContaining("a file of JSON lines"),
  ]);
  expect((await pick("20", "sheet.ndjson")).exitCode).toBe(0);
  expect((await pick("30", "sheet.ndjson")).exitCode).toBe(0);
  const filled = (await readFile(path, "utf8")).replace('"truth":null', '"truth":true');
  await writeFile(path, filled);
  const again = await pick("30", "sheet.ndjson");
  const isKept = "sheet.ndjson is this sheet already; its labels are kept.\n";
  expect([again.exitCode, again.stderr]).toEqual([0, isKept]);
  expect(await readFile(path, "utf8")).toBe(filled);
  const other = await pick("20", "sheet.ndjson");
  expect([other.exitCode, other.stderr]).toEqual([1, expect.stringContaining("has labels")]);
  expect(await readFile(path, "utf8")).toBe(filled);
  const answers = await readFile(join(folder, "answers.ndjson"), "utf8");
  expect((await pick("20", "answers.ndjson")).stderr).toContain("is the input file itself");
  expect(await readFile(join(folder, "answers.ndjson"), "utf8")).toBe(answers);
  await writeFile(join(folder, "notes.txt"), "mine");
  expect((await pick("20", "notes.txt")).stderr).toContain("this command did not write it");
  expect(await readFile(join(folder, "notes.txt"), "utf8")).toBe("mine");
});
