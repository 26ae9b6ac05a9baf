import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calibrate, folderWith, run } from "./testing/run.ts";

const check = ["check", "calibration/calibration.json", "--labels", "labels.ndjson"];
const answered = [...check, "--answers", "answers.ndjson"];
const june = { prefix: "june" };

/** Returns a folder with a calibration, and answers and labels of other records. */
async function promisedFolder(later: Parameters<typeof folderWith>[1] = {}, n = 400) {
  const folder = await folderWith(1200, { questionHash: "asked" });
  await run(folder, calibrate);
  await folderWith(n, { ...june, questionHash: "asked", ...later }, folder);
  return folder;
}

async function readLines(folder: string, name: string): Promise<{ id: string; truth: boolean }[]> {
  const lines = (await readFile(join(folder, name), "utf8")).trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as { id: string; truth: boolean });
}

async function writeLines(folder: string, name: string, rows: readonly object[]): Promise<void> {
  await writeFile(join(folder, name), rows.map((row) => JSON.stringify(row)).join("\n"));
}

test("a threshold holds, is broken where answers err more, or has too few labels", async () => {
  const folder = await promisedFolder({}, 600);
  const holds = await run(folder, answered);
  expect(holds.exitCode).toBe(0);
  expect(holds.stdout).toMatch(/^holds .*: act on "yes" at 0\.9/m);
  expect(holds.stdout).toContain("Repeated checks raise the chance of a false alarm");
  await folderWith(400, { ...june, questionHash: "asked", wrongEvery: 5 }, folder);
  const broken = await run(folder, answered);
  expect(broken.exitCode).toBe(1);
  expect(broken.stdout).toMatch(/^broken /m);
  await folderWith(40, { ...june, questionHash: "asked" }, folder);
  expect((await run(folder, answered)).exitCode).toBe(3);
});

test("answers to other questions and labels of other records are named", async () => {
  const folder = await promisedFolder();
  const path = join(folder, "answers.ndjson");
  const answers = await readFile(path, "utf8");
  await writeFile(path, answers.replaceAll('"scam"', '"kind"'));
  const other = { exitCode: 1, stdout: "" };
  expect(await run(folder, answered)).toMatchObject({
    ...other,
    stderr: 'There is no answered question "scam"; there is kind.\n',
  });
  await writeFile(path, "");
  expect(await run(folder, answered)).toMatchObject({
    ...other,
    stderr: "No answer is in answers.ndjson; start a run first.\n",
  });
  await writeFile(path, answers);
  await writeLines(folder, "labels.ndjson", [{ id: "typo", truth: true }]);
  const { stdout } = await run(folder, [...answered, "--allow-unknown"]);
  expect(stdout).toContain(
    "No label of labels.ndjson has an answer (labels by question: scam: 1).",
  );
});

test("--questions names the questions of one's own scores, as for calibrate", async () => {
  const folder = await folderWith(1200);
  for (const text of ["Scam?", "Spam?"]) {
    const questions = { scam: { type: "boolean", instructions: text } };
    await writeFile(join(folder, `${text.slice(0, 4)}.json`), JSON.stringify(questions));
  }
  await run(folder, [...calibrate, "--questions", "Scam.json"]);
  await folderWith(600, june, folder);
  const refused = await run(folder, answered);
  expect(refused.stderr).toContain("add --questions q.json. Check");
  expect(await run(folder, [...answered, "--questions", "Scam.json"])).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^holds .*: act on "yes" at 0\.9/m),
  });
  const other = await run(folder, [...answered, "--questions", "Spam.json"]);
  expect(other.stderr).toContain("are to other questions than the promised thresholds");
});

test("labels of the surest records have figures and no verdict, and no alarm takes them", async () => {
  const folder = await promisedFolder({}, 1200);
  const rows = await readLines(folder, "labels.ndjson");
  // Each row of the folder has one of seven printed values.
  await writeLines(
    folder,
    "labels.ndjson",
    rows.filter((_, index) => index % 7 === 6),
  );
  const { exitCode, stdout } = await run(folder, answered);
  expect(exitCode).toBe(3);
  expect(stdout).toMatch(/^no fair draw .*: act on "yes" .*: \d+ of \d+ wrong/m);
  expect(stdout).toContain("The labelled records are no random draw");
  const running = await run(folder, [...answered, "--state", "alarm.json"]);
  expect(running.exitCode).toBe(3);
  expect(running.stdout).toMatch(/^no fair draw .*: 0 of 0 wrong/m);
  await writeLines(folder, "labels.ndjson", rows);
  const fair = await run(folder, [...answered, "--state", "alarm.json"]);
  expect(fair.stdout).toMatch(/^no alarm .* of 600 wrong/m);
});

test("a draw of the records whose labels made no promise is fair, also if those were the surest ones", async () => {
  const folder = await promisedFolder({}, 1200);
  const path = join(folder, "calibration", "calibration.json");
  const artifact = JSON.parse(await readFile(path, "utf8")) as { fittedOn: object };
  const rows = await readLines(folder, "labels.ndjson");
  const isFitted = (index: number) => index % 7 > 2 && index % 10 < 8;
  const fitted = rows.filter((_, index) => isFitted(index));
  const ids = fitted.map(({ id }) => createHash("sha256").update(id).digest("hex").slice(0, 8));
  const others = rows.filter((_, index) => !isFitted(index) && index % 4 < 2);
  await writeLines(folder, "labels.ndjson", others);
  expect((await run(folder, answered)).stdout).toMatch(/^no fair draw /m);
  await writeFile(path, JSON.stringify({ ...artifact, fittedOn: { ...artifact.fittedOn, ids } }));
  expect((await run(folder, answered)).stdout).not.toMatch(/^no fair draw /m);
  const alarm = await run(folder, [...answered, "--state", "alarm.json"]);
  expect(alarm.stdout).toMatch(/^no alarm /m);
});

test.each([
  [
    "of another model",
    { modelId: "maker/judge-8" },
    "The answers of 400 labels are of maker/judge-8, the thresholds of maker/judge-7.",
  ],
  [
    "to other questions",
    { questionHash: "other" },
    "The answers of 400 labels are to other questions",
  ],
  [
    "to questions that are not known",
    { questionHash: null },
    "The answers of 400 labels and the calibration may have different questions: only the calibration",
  ],
])("answers %s are refused, and nothing else is printed", async (_, later, message) => {
  const folder = await promisedFolder(later);
  const { exitCode, stdout, stderr } = await run(folder, answered);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  expect(stderr).toContain(message);
});

test("one answer of another model among many refuses all of them", async () => {
  const folder = await promisedFolder();
  const rows = await readLines(folder, "answers.ndjson");
  const mixed = rows.map((row, index) =>
    index === 7 ? Object.assign(row, { modelId: "maker/judge-8" }) : row,
  );
  await writeLines(folder, "answers.ndjson", mixed);
  expect(await run(folder, answered)).toMatchObject({
    exitCode: 1,
    stdout: "",
    stderr: expect.stringContaining("The answers of 1 label are of maker/judge-8"),
  });
});

test("calibration and answers that both name no questions are checked, with a line", async () => {
  const folder = await folderWith(1200);
  await run(folder, calibrate);
  await folderWith(600, june, folder);
  const { exitCode, stdout } = await run(folder, answered);
  expect(exitCode).toBe(0);
  expect(stdout).toContain("Make sure that calibration and answers have the same questions");
});

test("labels that made the promise are left out and counted; alone they are refused", async () => {
  const folder = await folderWith(1200, { questionHash: "asked" });
  await run(folder, calibrate);
  const same = await run(folder, answered);
  expect({ exitCode: same.exitCode, stdout: same.stdout }).toEqual({ exitCode: 1, stdout: "" });
  expect(same.stderr).toContain("These labels made the promise; label other records to test it.");
  const files = ["answers.ndjson", "labels.ndjson"];
  const old = await Promise.all(
    files.map(async (name) => (await readLines(folder, name)).slice(0, 300)),
  );
  await writeLines(folder, "labels.ndjson", old[1] ?? []);
  expect((await run(folder, answered)).exitCode).toBe(1);
  await folderWith(400, { ...june, questionHash: "asked", wrongEvery: 5 }, folder);
  for (const [at, name] of files.entries()) {
    await writeLines(folder, name, [...(old[at] ?? []), ...(await readLines(folder, name))]);
  }
  const { exitCode, stdout } = await run(folder, answered);
  expect(exitCode).toBe(1);
  expect(stdout).toContain("Left out: 300 labels that made the promise.");
  expect(stdout).toMatch(/broken .*: 80 of 200 wrong/);
});

test("a skipped record counts as wrong", async () => {
  const folder = await promisedFolder();
  const rows = await readLines(folder, "labels.ndjson");
  const skipped = rows.map((row, index) =>
    index % 8 === 0 ? { id: row.id, truth: null, skipped: true } : row,
  );
  await writeLines(folder, "labels.ndjson", skipped);
  const { exitCode, stdout } = await run(folder, answered);
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/^broken .*act on "yes" .*: 5[0-9] of 200 wrong/m);
  expect(stdout).toContain("Skipped, or labelers tie: 50 labels, counted as wrong.");
});

test("weights are honoured: wrong records that were drawn more often break nothing", async () => {
  const folder = await promisedFolder({}, 1200);
  const rows = await readLines(folder, "labels.ndjson");
  // Every wrong one was drawn for sure, of the right ones one in ten.
  const drawn = rows.map((row, index) => {
    const isWrong = row.truth !== (index % 2 === 0);
    const isDrawn = isWrong || index % 40 < 2;
    return Object.assign(row, isDrawn ? { truth: false, drawn: 1 } : { drawn: 0.1 });
  });
  const wrongYes = drawn.filter((row, index) => index % 2 === 0 && !row.truth).length;
  expect(wrongYes / 600).toBeGreaterThan(0.05);
  await writeLines(folder, "labels.ndjson", drawn);
  expect((await run(folder, answered)).stdout).toMatch(/^holds .*act on "yes"/m);
  await writeLines(
    folder,
    "labels.ndjson",
    drawn.map(({ id, truth }) => ({ id, truth })),
  );
  expect((await run(folder, answered)).stdout).not.toMatch(/^holds .*act on "yes"/m);
});

test("check reads labels that hold what was printed, and refuses a file that is no calibration", async () => {
  const folder = await folderWith(1200);
  await run(folder, calibrate);
  const own = Array.from({ length: 200 }, (_, index) => ({
    id: `n${index}`,
    question: "scam",
    truth: index % 2 === 0,
    probability: index % 2 === 0 ? 0.97 : 0.02,
    modelId: "maker/judge-7",
  }));
  await writeLines(folder, "own.ndjson", own);
  const words = ["check", "calibration/calibration.json", "--labels", "own.ndjson", "--json"];
  const { exitCode, stdout } = await run(folder, words);
  expect(exitCode).toBe(0);
  expect(stdout).toContain("Whether the labels are a random draw is unknown");
  const wrong = await run(folder, ["check", "calibration/report.json", "--labels", "own.ndjson"]);
  expect(wrong.exitCode).toBe(1);
  expect(wrong.stderr).toContain("calibration/report.json is not a calibration: kind is");
});

test("a calibration of version 1 is read, and its thresholds beyond 0.5 are not tested", async () => {
  const folder = await promisedFolder();
  const path = join(folder, "calibration", "calibration.json");
  const artifact = JSON.parse(await readFile(path, "utf8")) as {
    fittedOn: object;
    thresholds: { action: string; threshold: number; level?: number; method?: string }[];
  };
  const { n, from, to, hash } = artifact.fittedOn as Record<string, unknown>;
  const thresholds = artifact.thresholds.map(({ level, method, ...rest }) => {
    expect([level, method]).toEqual([expect.any(Number), "fixed"]);
    return rest.action === "no" ? Object.assign(rest, { threshold: 0.2 }) : rest;
  });
  await writeFile(
    path,
    JSON.stringify({ ...artifact, version: 1, fittedOn: { n, from, to, hash }, thresholds }),
  );
  const { exitCode, stdout } = await run(folder, answered);
  expect(exitCode).toBe(0);
  expect(stdout).toContain("The calibration does not name 1,200 labels it was made from");
  expect(stdout).not.toContain('act on "no"');
});
