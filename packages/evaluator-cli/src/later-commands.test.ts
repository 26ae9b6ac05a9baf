import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
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
  expect(stdout).toContain("their printed values differ by more than chance");
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
  expect((await pick("20", "answers.ndjson")).stderr).toContain("is the input file");
  expect(await readFile(join(folder, "answers.ndjson"), "utf8")).toBe(answers);
  await writeFile(join(folder, "notes.txt"), "mine");
  expect((await pick("20", "notes.txt")).stderr).toContain("this command did not write it");
  expect(await readFile(join(folder, "notes.txt"), "utf8")).toBe("mine");
});
