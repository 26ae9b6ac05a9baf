import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { calibrate, folderWith, readReport, run } from "../testing/run.ts";

test("a skipped record is out of the scores, and counts as wrong in a promise", async () => {
  const folder = await folderWith(1200);
  const promisedOf = async () => (await readReport(folder)).reports[0]?.actions[0]?.promised;
  await run(folder, calibrate);
  const before = await promisedOf();
  expect(before).toMatchObject({ threshold: 0.9, n: 600, wrong: 12 });
  const skipped = new Set(["r0", "r14", "r28"]);
  const rows = (await readFile(join(folder, "labels.ndjson"), "utf8")).trimEnd().split("\n");
  const withSkips = rows.map((line) => {
    const label = JSON.parse(line) as { id: string };
    return JSON.stringify(
      skipped.has(label.id) ? { id: label.id, truth: null, skipped: true } : label,
    );
  });
  await writeFile(join(folder, "labels.ndjson"), withSkips.join("\n"));
  const { stdout } = await run(folder, calibrate);
  expect(stdout).toMatch(/^scam: 1,200 labelled, 1,200 joined, 3 skipped\.\n/);
  expect((await readReport(folder)).reports[0]?.n).toBe(1197);
  expect(await promisedOf()).toMatchObject({ threshold: 0.9, n: 600, wrong: 15 });
});

test("labels of one thread are named as dependent, and --one-per promises from one of each", async () => {
  const folder = await folderWith(1200, { wrongEvery: 400 });
  const rows = (await readFile(join(folder, "labels.ndjson"), "utf8")).trimEnd().split("\n");
  const inThreads = rows.map((line, index) =>
    JSON.stringify({ ...(JSON.parse(line) as object), group: `t${Math.floor(index / 4)}` }),
  );
  await writeFile(join(folder, "labels.ndjson"), inThreads.join("\n"));
  const line =
    "your 1,200 labels come from 300 groups; labels of one group are not independent (--one-per group)";
  expect((await run(folder, calibrate)).stdout).toContain(line);
  const { stdout } = await run(folder, [...calibrate, "--one-per", "group"]);
  expect(stdout).toContain(
    "your 1,200 labels come from 300 groups; a promise takes one label of each",
  );
  const [report] = (await readReport(folder)).reports;
  expect(report?.n).toBe(1200);
  const tested = report?.actions.map(({ promised }) => (promised as { n: number } | null)?.n ?? 0);
  expect(tested?.[0]).toBeGreaterThan(100);
  expect((tested?.[0] ?? 0) + (tested?.[1] ?? 0)).toBeLessThanOrEqual(300);
});

test("two labelers that disagree set a ceiling for every engine", async () => {
  const folder = await folderWith(200);
  const first = await readFile(join(folder, "labels.ndjson"), "utf8");
  const rows = first.trimEnd().split("\n").slice(0, 100);
  const second = rows.map((line, index) => {
    const label = JSON.parse(line) as { truth: boolean };
    return JSON.stringify({ ...label, labeler: "bob", truth: index < 8 !== label.truth });
  });
  await writeFile(join(folder, "labels.ndjson"), first + second.join("\n"));
  const { stdout } = await run(folder, calibrate);
  expect(stdout).toContain(
    "two labelers disagree on 8 % of 100 records (Krippendorff's alpha 0.84, ",
  );
  expect(stdout).toContain("no engine can be right in more than about 96 % of single labels");
  expect((await readReport(folder)).reports[0]?.agreement?.ceiling).toBeCloseTo(0.96, 12);
  await writeFile(join(folder, "labels.ndjson"), first + second.slice(8).join("\n"));
  const agreed = await run(folder, calibrate);
  expect(agreed.stdout).toContain("two labelers disagree on 0 % of 92 records (Krippendorff's");
  expect(agreed.stdout).not.toContain("no engine can be right");
  await writeFile(join(folder, "labels.ndjson"), first + second.slice(0, 9).join("\n"));
  const few = await run(folder, calibrate);
  expect(few.stdout).toContain("two labelers disagree on 89 % of 9 records\n");
  expect(few.stdout).not.toContain("no engine can be right");
});

test("groups share the level, and each has its own promise", async () => {
  const folder = await folderWith(1200, { wrongEvery: 400 });
  await run(folder, [...calibrate, "--by", "group"]);
  const [report] = (await readReport(folder)).reports;
  const levels = report?.actions.map(
    ({ promised }) => (promised as { level: number } | null)?.level,
  );
  expect(levels?.[0]).toBeCloseTo(0.05 / 6, 12);
  expect(report?.groups).toMatchObject([
    { group: "home", promised: [{ action: "yes", maxRisk: 0.05 }, { action: "no" }] },
    { group: "work", promised: [{ action: "yes" }, { action: "no" }] },
  ]);
});

test("a withdrawn promise is taken out of the calibration that an earlier report wrote, so nothing acts on it", async () => {
  const folder = await temporaryFolder();
  const about = { question: "scam", probability: 0.98, modelId: "m/x", questionHash: "hash" };
  const answers = Array.from({ length: 600 }, (_, at) =>
    JSON.stringify({ id: `r${at}`, ...about }),
  );
  await writeFile(join(folder, "answers.ndjson"), answers.join("\n"));
  const labels = join(folder, "labels.ndjson");
  const words =
    "pick --answers answers.ndjson --labels labels.ndjson --for-promise scam=yes --budget";
  const label = async (count: number, isRight: (at: number) => boolean) => {
    const { stdout } = await run(folder, [...words.split(" "), String(count)]);
    const rows = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    const filled = rows.map((row, at) => `${JSON.stringify({ ...row, truth: isRight(at) })}\n`);
    await appendFile(labels, filled.join(""));
  };
  const act = ["act", "answers.ndjson", "--artifact", "calibration/calibration.json"];
  await label(100, () => true);
  await run(folder, calibrate);
  expect((await run(folder, act)).exitCode).toBe(0);
  await label(100, (at) => at % 2 === 0);
  const { stdout, stderr } = await run(folder, calibrate);
  expect(stdout).toMatch(
    /the promise at 0\.\d\d is withdrawn since label 1\d\d; \d+ of \d+ labels wrong/,
  );
  expect(stderr).toContain("calibration/calibration.json no longer has the promise of scam=yes (");
  expect(await run(folder, act)).toMatchObject({ exitCode: 3, stdout: "" });
});
