import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTestContext, temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { calibrate, folderWith, readReport, run } from "../testing/run.ts";
import { writeReport } from "../write-report.ts";

const act = ["act", "answers.ndjson", "--artifact", "calibration/calibration.json", "--acts-only"];

/** Returns a folder whose calibration promises both acts. */
async function promisedFolder() {
  const folder = await folderWith(1200, { questionHash: "hash" });
  await run(folder, calibrate);
  expect((await run(folder, act)).stderr).toMatch(
    /^acts on [\d,]+ of 1,200: scam no \d+, scam yes/,
  );
  return folder;
}

/** Changes each label by its index; null takes it out. */
async function editLabels(
  folder: string,
  edit: (label: object & { truth: boolean }, at: number) => object | null,
) {
  const path = join(folder, "labels.ndjson");
  const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
  const labels = lines.map((line, at) => edit(JSON.parse(line) as { truth: boolean }, at));
  const text = labels.flatMap((label) => (label ? [`${JSON.stringify(label)}\n`] : [])).join("");
  await writeFile(path, text);
}

const ways: readonly [string, words: readonly string[], (folder: string) => Promise<unknown>][] = [
  [
    "edited labels",
    [],
    (folder) => editLabels(folder, (one, at) => ({ ...one, truth: one.truth !== at % 5 < 2 })),
  ],
  [
    "labels that worthless answers have",
    [],
    (folder) => editLabels(folder, (one, at) => ({ ...one, truth: at % 3 === 0 })),
  ],
  ["fewer labels", [], (folder) => editLabels(folder, (one, at) => (at < 40 ? one : null))],
  ["no label", [], (folder) => editLabels(folder, () => null)],
  ["no label that has the column", ["--by", "group"], (folder) => editLabels(folder, () => null)],
  ["empty labels", [], (folder) => editLabels(folder, (one) => ({ ...one, truth: null }))],
  ["labels that are all skipped", [], (folder) => editLabels(folder, skip)],
  [
    "labels of the surest answers",
    [],
    (folder) => editLabels(folder, (one, at) => (at % 7 === 6 && at % 2 === 0 ? one : null)),
  ],
  [
    "labels of a model of the same maker",
    [],
    (folder) => editLabels(folder, (one) => ({ ...one, labeler: "maker/judge-8" })),
  ],
  [
    "skips",
    [],
    (folder) =>
      editLabels(folder, (one, at) => (at % 6 < 2 ? { ...one, truth: null, skipped: true } : one)),
  ],
  [
    "answers of another model, too",
    ["more.ndjson"],
    (folder) =>
      folderWith(1200, { modelId: "maker/judge-9", name: "more.ndjson", labels: false }, folder),
  ],
  ["a lower risk", ["--require", "0.1%"], () => Promise.resolve()],
];

test.each(ways)(
  "no act rests on a promise that is lost by %s, and the earlier file is kept",
  async (_, words, edit) => {
    const folder = await promisedFolder();
    const { artifact } = (await readReport(folder)) as { artifact?: string };
    await edit(folder);
    const { stderr } = await run(folder, [...calibrate, ...words]);
    const kept = `calibration/calibration.${artifact}.json`;
    expect(stderr).toMatch(
      /calibration\/calibration.json no longer has the promise of scam=yes \(.* wrong\) and the promise of scam=no \(/,
    );
    expect(stderr).toContain(`The earlier file is kept as ${kept}.\n`);
    expect(await run(folder, act)).toMatchObject({ exitCode: 3, stdout: "" });
    // It is what the acts name, so an audit can leave out its labels.
    const earlier = act.map((word) => (word.endsWith("calibration.json") ? kept : word));
    const { stdout } = await run(folder, earlier);
    expect(stdout).toContain(`"artifact":"${artifact}"`);
    expect((await run(folder, [...calibrate, ...words])).stderr).not.toContain("no longer has");
    expect(await run(folder, act)).toMatchObject({ exitCode: 3, stdout: "" });
  },
);

test("a report of another act keeps the promise of the first in another file, and says so", async () => {
  const folder = await promisedFolder();
  const { stderr } = await run(folder, [...calibrate, "--action", "scam=no"]);
  expect(stderr).toContain("calibration/calibration.json no longer has the promise of scam=yes (");
  expect((await run(folder, act)).stderr).toMatch(/^acts on [\d,]+ of 1,200: scam no \d+; /);
  expect((await readdir(join(folder, "calibration"))).toSorted()).toEqual([
    expect.stringMatching(/^calibration\.[0-9a-f]{16}\.json$/),
    "calibration.json",
    "report.html",
    "report.json",
  ]);
});

test.each([
  ["a higher risk", ["--require", "10%"], (one: object) => one],
  ["a lower confidence", ["--confidence", "90%"], (one: object) => one],
  [
    "a higher threshold",
    [],
    (one: { truth: boolean }, at: number) => (at % 14 === 0 ? { ...one, truth: false } : one),
  ],
] as const)("a promise that is weaker by %s keeps the earlier file", async (_, words, edit) => {
  const folder = await promisedFolder();
  const { stdout } = await run(folder, act);
  await writeFile(join(folder, "acts.ndjson"), stdout);
  const { artifact } = (await readReport(folder)) as { artifact?: string };
  await editLabels(folder, edit);
  const { stderr } = await run(folder, [...calibrate, ...words]);
  const kept = `calibration/calibration.${artifact}.json`;
  expect(stderr).toContain("the promise of scam=yes (0.90 and above: at most 5 % wrong)");
  expect(stderr).toContain(`The earlier file is kept as ${kept}.\n`);
  expect((await run(folder, act)).stderr).toContain("scam yes");
  await writeFile(join(folder, "later.ndjson"), '{"id":"r0","truth":true}\n');
  const audit = ["audit", "acts.ndjson", "--labels", "later.ndjson", "--artifact", kept];
  expect((await run(folder, audit)).stderr).toContain("These labels made the promise");
});

test("an earlier file with an equal promise is kept for the audit of its acts", async () => {
  const folder = await promisedFolder();
  const { stdout } = await run(folder, act);
  await writeFile(join(folder, "acts.ndjson"), stdout);
  const { artifact } = (await readReport(folder)) as { artifact?: string };
  const again = await run(folder, calibrate);
  expect(again.stderr).not.toContain("is kept");
  await editLabels(folder, (one, at) => (at < 1190 ? one : null));
  const { stderr } = await run(folder, calibrate);
  const kept = `calibration/calibration.${artifact}.json`;
  expect(stderr).toContain(`\nThe earlier file is kept as ${kept}.\n`);
  await writeFile(join(folder, "later.ndjson"), '{"id":"r0","truth":true}\n');
  const audit = ["audit", "acts.ndjson", "--labels", "later.ndjson", "--artifact", kept];
  expect((await run(folder, audit)).stderr).toContain("These labels made the promise");
});

test.each([
  ["no label", () => null, "labels.ndjson has no label."],
  ["skips alone", skip, "labels.ndjson has only skips or ties of labelers."],
] as const)("with %s the pages of an earlier promise are replaced", async (_, edit, sentence) => {
  const folder = await promisedFolder();
  await editLabels(folder, edit);
  const { exitCode, stderr, stdout } = await run(folder, calibrate);
  expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: "" });
  expect(stderr).toContain(sentence);
  const page = await readFile(join(folder, "calibration", "report.html"), "utf8");
  expect(page).toContain(sentence);
  expect(page).not.toContain("Answered by");
  expect(await readReport(folder)).toMatchObject({ artifact: null, reports: [] });
});

function skip(label: object) {
  return { ...label, truth: null, skipped: true };
}

test("a calibration that names its questions replaces one that did not, and is no loss", async () => {
  const folder = await folderWith(1200);
  await run(folder, calibrate);
  await folderWith(1200, { questionHash: "hash" }, folder);
  expect((await run(folder, calibrate)).stderr).not.toContain("no longer has");
  await folderWith(1200, { questionHash: "another" }, folder);
  expect((await run(folder, calibrate)).stderr).toContain(
    "no longer has the promise of scam=yes (",
  );
});

test("a report that cannot be written leaves no promise that it has not, and no empty folder", async () => {
  const cwd = await temporaryFolder();
  const files = { "report.json": { n: 1n }, "calibration.json": {} };
  for (const out of ["all", "none"]) {
    const written = out === "all" ? files : { "report.json": files["report.json"] };
    const report = { out, files: written, printed: "" };
    await expect(writeReport(report, createTestContext({ cwd }))).rejects.toThrow("BigInt");
  }
  expect(await readdir(cwd, { recursive: true })).toEqual(["all", join("all", "calibration.json")]);
});

test("a file of the same name that is no calibration is not overwritten", async () => {
  const folder = await folderWith(1200);
  await writeFile(join(folder, "calibration.json"), '{"camera":1}\n');
  const { exitCode, stderr } = await run(folder, [...calibrate, "--out", "."]);
  expect(exitCode).toBe(1);
  expect(stderr).toContain("Name another folder with --out.");
  expect(await readFile(join(folder, "calibration.json"), "utf8")).toBe('{"camera":1}\n');
  expect(await readdir(folder)).not.toContain("report.json");
});
