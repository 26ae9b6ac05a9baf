import {
  appendFile,
  copyFile,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { labelUntilPromised, readPage, startLabel } from "./testing/label-page.ts";
import { readReport, run } from "./testing/run.ts";
import { ask, isRefund } from "./testing/refunds.ts";

const answered = await mkdtemp(join(tmpdir(), "evaluator-"));
beforeAll(() => ask(answered, 2400));
afterAll(() => rm(answered, { recursive: true }));

async function folderOf(tickets = 2400): Promise<string> {
  const cwd = await temporaryFolder();
  const name = "tickets.evaluator.sqlite";
  if (tickets === 2400) await copyFile(join(answered, name), join(cwd, name));
  else await ask(cwd, tickets);
  return cwd;
}

async function labelsIn(cwd: string) {
  const lines = (await readFile(join(cwd, "tickets.labels.ndjson"), "utf8")).trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

const forPromise = ["--for-promise", "refund=yes"];
const calibrate = "calibrate tickets.labels.ndjson --answers tickets.evaluator.sqlite".split(" ");

async function promisesOf(cwd: string, words: readonly string[] = calibrate) {
  const { exitCode, stdout, stderr } = await run(cwd, words);
  const { reports } = exitCode === 0 ? await readReport(cwd) : { reports: [] };
  return { exitCode, stdout, stderr, promised: reports[0]?.actions.map((act) => act.promised) };
}

test("a person labels until the promise, and calibrate replays the same threshold", async () => {
  const cwd = await folderOf();
  const { origin, stop } = await startLabel(cwd, ...forPromise);
  const page = await labelUntilPromised(origin, isRefund);
  const line =
    /^act on "yes" at (0\.\d\d) and above: at most 5 % wrong, with 95 % confidence; (\d+) wrong of (\d+) labels\. More labels may lower the threshold\.$/;
  const [, threshold, wrong, n] = line.exec(page.status) ?? [];
  expect(page.html).toContain("about 200,000 if 1 in 1,000 is a yes");
  expect(page.html).toContain("The promise holds for records like these.");
  const { exitCode, said } = await stop();
  expect(exitCode).toBe(0);
  expect(said).toContain(`${page.status}\n`);
  expect(said).toMatch(/\n2 right of 2; /);

  const labels = await labelsIn(cwd);
  expect(labels.length).toBeLessThan(250);
  expect(said).toContain(`\n${labels.length} labels, 0 skipped\nNext: evaluator-cli calibrate`);
  expect(labels[0]).toMatchObject({
    question: "refund",
    draw: { plan: expect.stringMatching(/^[\da-f]{16}$/), from: expect.any(Number) },
  });
  const replayed = await promisesOf(cwd);
  expect(replayed.promised).toEqual([
    {
      question: "refund",
      action: "yes",
      threshold: Number(threshold),
      maxRisk: 0.05,
      confidence: 0.95,
      level: 0.05,
      method: "sequential",
      n: Number(n),
      wrong: Number(wrong),
    },
  ]);
  expect(replayed.stdout).toContain(
    `act on "yes" at ${threshold} and above: at most 5 % wrong, with 95 % confidence`,
  );
  expect(replayed.stdout).toContain("enter no score and show no missed records");
  const { mode } = await stat(join(cwd, "tickets.promise.json"));
  expect(mode & 0o077).toBe(process.platform === "win32" ? mode & 0o077 : 0);
});

test("an edited label and a skip count as wrong, on the page and in calibrate", async () => {
  const cwd = await folderOf();
  const { origin, stop } = await startLabel(cwd, ...forPromise);
  const { status } = await labelUntilPromised(origin, isRefund);
  expect((await promisesOf(cwd)).promised).toMatchObject([{ method: "sequential" }]);
  for (const [at, answer] of ["1", "skip", "1", "1"].entries()) {
    const { id = "" } = await readPage(await fetch(`${origin}/?question=refund&at=${at}`));
    const body = new URLSearchParams({ question: "refund", id, at: String(at), answer });
    const page = await readPage(await fetch(`${origin}/labels`, { method: "POST", body }));
    expect(page.status).not.toBe(status);
  }
  expect((await promisesOf(cwd)).promised).toEqual([null]);
  await stop();
  const again = await startLabel(cwd, ...forPromise);
  const page = await readPage(await fetch(again.origin));
  expect(page.status).toMatch(/^\d+ right of \d+; /);
  expect((await labelsIn(cwd)).filter(({ skipped }) => skipped === true)).toHaveLength(1);
});

test("the same plan goes on, and another plan is refused", async () => {
  const cwd = await folderOf();
  const first = await startLabel(cwd, ...forPromise);
  const { id } = await readPage(await fetch(first.origin));
  await first.stop();
  const second = await startLabel(cwd, ...forPromise, "--require", "5%");
  expect((await readPage(await fetch(second.origin))).id).toBe(id);
  expect(await run(cwd, ["label", "tickets.csv", ...forPromise])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("is in use by another page; wait for its end."),
  });
  await second.stop();
  for (const words of [
    [...forPromise, "--require", "2%"],
    [...forPromise, "--confidence", "90%"],
    [...forPromise, "--seed", "8"],
    ["--for-promise", "refund=no"],
  ]) {
    expect(await run(cwd, ["label", "tickets.csv", ...words])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("another plan is a second try"),
    });
  }
  expect((await readdir(cwd)).toSorted()).toEqual([
    "tickets.evaluator.sqlite",
    "tickets.promise.json",
  ]);
  await ask(cwd, 2401);
  expect(await run(cwd, ["label", "tickets.csv", ...forPromise])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("was planned for other answers"),
  });
});

test("calibrate refuses answers that the plan was not made for, and labels without their plan", async () => {
  const cwd = await folderOf();
  const { origin, stop } = await startLabel(cwd, ...forPromise);
  await labelUntilPromised(origin, isRefund);
  await stop();
  const other = await promisesOf(cwd, [...calibrate, "--require", "2%"]);
  expect(other).toMatchObject({ exitCode: 1, stdout: "" });
  expect(other.stderr).toContain("promises --require 0.05 --confidence 0.95");
  await ask(cwd, 2401);
  const changed = await promisesOf(cwd);
  expect(changed).toMatchObject({ exitCode: 1, stdout: "" });
  expect(changed.stderr).toContain("tickets.promise.json: was planned for other answers");
  const labels = await readFile(join(cwd, "tickets.labels.ndjson"));
  await writeFile(join(cwd, "more.ndjson"), labels);
  const moved = await run(cwd, ["calibrate", "more.ndjson", ...calibrate.slice(2)]);
  expect(moved.exitCode).toBe(1);
  expect(moved.stderr).toContain("more.promise.json cannot be read: no such file");
});

test("if no record may be acted on, it says so before the first label, and too few are reported", async () => {
  const few = await folderOf(70);
  const { said } = await (await startLabel(few, ...forPromise)).stop();
  expect(said).toContain('Only 10 records may be acted on with "yes"');
  const none = await folderOf(3);
  expect(await run(none, ["label", "tickets.csv", ...forPromise])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("No record may be acted on with refund=yes"),
  });
  expect(await readdir(none)).toEqual(["tickets.evaluator.sqlite"]);
  const top = await run(none, ["label", "tickets.csv", "--for-promise", "refund=top"]);
  expect(top.stderr).toContain("--for-promise refund=top fits no answer; use refund=yes or");
});

test("pick draws the next records of a plan for a spreadsheet, and calibrate takes its rows", async () => {
  const cwd = await folderOf();
  const words = "pick --answers tickets.evaluator.sqlite --labels sheet.labels.ndjson --budget 20"
    .split(" ")
    .concat(forPromise);
  const seen = new Set<string>();
  const report = ["calibrate", "sheet.labels.ndjson", ...calibrate.slice(2)];
  for (let round = 0; round < 10; round += 1) {
    const { stdout, stderr } = await run(cwd, words);
    expect(stderr).toContain("append the rows to sheet.labels.ndjson");
    for (const line of stdout.trim().split("\n")) {
      const row = JSON.parse(line) as { id: string; truth: unknown };
      seen.add(row.id);
      row.truth = isRefund(Number(row.id.slice(2)));
      await appendFile(join(cwd, "sheet.labels.ndjson"), `${JSON.stringify(row)}\n`);
    }
    if (round === 5) await run(cwd, report);
  }
  expect(seen.size).toBe(200);
  const { promised, stderr } = await promisesOf(cwd, report);
  expect(promised).toMatchObject([{ method: "sequential", level: 0.05 }]);
  // These labels may be looked at as they grow.
  expect(stderr).not.toContain("as they grow");
  const other = [...words, "--require", "1%"];
  expect(await run(cwd, other)).toMatchObject({ exitCode: 1, stdout: "" });
});

test("a promise about exactly these records permits acts on those only, if none is missing", async () => {
  const cwd = await folderOf(400);
  const words = ["--for-promise", "refund=no", "--exactly-these"];
  const { origin, stop } = await startLabel(cwd, ...words);
  const { status, html } = await labelUntilPromised(origin, isRefund);
  expect(html).toContain("permits no act on others");
  const sentence =
    /^act on "no" at 0\.98 and above: of exactly these (\d+) records without a label at most (\d+) \((4\.?\d?|5) %\) wrong, with 95 % confidence; 0 wrong of (\d+) labels\./;
  const [, unlabelled, mostWrong, , n] = sentence.exec(status) ?? [];
  expect(Number(n) + Number(unlabelled)).toBe(343);
  expect(Number(n)).toBeLessThan(80);
  expect(Number(mostWrong)).toBeLessThanOrEqual(0.05 * Number(unlabelled));
  await stop();
  const replayed = await promisesOf(cwd);
  expect(replayed.stdout).toContain(`of exactly these ${unlabelled} records without a label`);
  expect(replayed.stdout).not.toContain("at most 5 % wrong");

  const act = ["act", "tickets.csv", "--artifact", "calibration/calibration.json", "--acts-only"];
  const csv = Array.from({ length: 400 }, (_, number) => `t-${number},Ticket ${number}\n`);
  await writeFile(join(cwd, "tickets.csv"), `id,body\n${csv.join("")}`);
  const acts = await run(cwd, act);
  expect(acts).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("refund no 343") });
  expect(acts.stdout.trimEnd().split("\n")).toHaveLength(343);
  expect(acts.stdout).toContain(`"unlabelled":${unlabelled}`);
  // Another record was answered since: the promise is not about it.
  await ask(cwd, 401);
  expect((await run(cwd, act)).stdout).toBe(acts.stdout);
  // The journal still has the first record, which the input lost or changed.
  for (const first of ["", "t-0,Another text\n"]) {
    await writeFile(join(cwd, "tickets.csv"), `id,body\n${first}${csv.slice(1).join("")}`);
    expect(await run(cwd, act)).toMatchObject({ exitCode: 1, stdout: "" });
  }
  const fewer = await folderOf(399);
  await copyFile(join(cwd, "calibration/calibration.json"), join(fewer, "calibration.json"));
  await writeFile(join(fewer, "tickets.csv"), `id,body\n${csv.slice(0, -1).join("")}`);
  const refused = await run(fewer, act.with(3, "calibration.json"));
  expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
  expect(refused.stderr).toContain("1 of them are missing or changed here");
  const yes = await run(cwd, ["label", "tickets.csv", ...forPromise]);
  expect(yes.stderr).toContain("--exactly-these");
});
