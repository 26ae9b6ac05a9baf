import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { artifactHash, parseCalibrationArtifact } from "evaluator-calibration";
import { temporaryFolder } from "evaluator-kit/testing";
import { hashLabelledId } from "evaluator-runs/source";
import { expect, test } from "vitest";
import { acts, evidence, labels, writeLines } from "./testing/acts.ts";
import { refundCalibration } from "./testing/refund-calibration.ts";
import { calibrate, folderWith, run } from "./testing/run.ts";

const leftToPerson = { id: "p1", question: "refund", act: null, why: "below-threshold" };

async function auditOf(
  lines: readonly object[],
  later: readonly object[],
  more: readonly string[] = [],
) {
  const folder = await temporaryFolder();
  await writeLines(folder, "acts.ndjson", lines);
  await writeLines(folder, "later.ndjson", later);
  return await run(folder, ["audit", "acts.ndjson", "--labels", "later.ndjson", ...more]);
}

test("a promise is kept, broken, or has not enough labels", async () => {
  const rows = acts(244);
  const sixty = rows.slice(0, 60);
  expect(await auditOf(rows, labels(sixty))).toEqual({
    exitCode: 0,
    stdout: "refund no: kept, 0 wrong of 60 (at most 4.9 %, with 95 % confidence)\n",
    stderr: "",
  });
  expect(await auditOf(rows, labels(sixty, 20))).toMatchObject({
    exitCode: 1,
    stdout: "refund no: broken, 20 wrong of 60 (at least 23.3 %, with 95 % confidence)\n",
  });
  expect(await auditOf(rows, labels(rows.slice(0, 58)))).toMatchObject({
    exitCode: 3,
    stdout: "refund no: not enough labels, 0 wrong of 58 (0 % to 7 %)\n",
  });
});

test("a column whose values repeat among the labels is named", async () => {
  const rows = acts(244);
  const inThreads = labels(rows.slice(0, 60)).map((label, at) =>
    Object.assign(label, { thread: at % 20 }),
  );
  const { stderr } = await auditOf(rows, inThreads);
  expect(stderr).toContain('60 labels come from 20 values of "thread"; labels of one may not');
});

test("a draw of the acts that made no promise is fair, also if those that did were the surest ones", async () => {
  const sure = acts(200, { changed: { printed: 1 } });
  const unsure = acts(200, { changed: { printed: 0.97 }, prefix: "u" });
  const folder = await temporaryFolder();
  const rows = [...sure, ...unsure];
  const promise = refundCalibration(evidence.model, {}, [{ action: "no", threshold: 0.97 }]);
  const ids = sure.slice(0, 170).map(({ id }) => hashLabelledId(id));
  const artifact = { ...promise, fittedOn: { ...promise.fittedOn, ids } };
  await writeFile(join(folder, "calibration.json"), JSON.stringify(artifact));
  const lines = rows.map(({ evidence: own, ...row }) => {
    return Object.assign(row, { evidence: { ...own, artifact: artifactHash(artifact) } });
  });
  await writeLines(folder, "acts.ndjson", lines);
  await writeLines(folder, "later.ndjson", labels([...sure.slice(190), ...unsure.slice(0, 66)]));
  const words = ["audit", "acts.ndjson", "--labels", "later.ndjson"];
  expect((await run(folder, words)).stdout).toContain("refund no: no fair draw, ");
  const { exitCode, stdout } = await run(folder, [...words, "--artifact", "calibration.json"]);
  expect({ exitCode, stdout }).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining("refund no: kept, 0 wrong of 76 ") as string,
  });
});

test("labels of the surest acts alone have figures and no verdict", async () => {
  const sure = acts(200, { changed: { printed: 1 } });
  const unsure = acts(200, { changed: { printed: 0.97 }, prefix: "u" });
  const rows = [...sure, ...unsure];
  expect(await auditOf(rows, labels(sure.slice(0, 100)))).toEqual({
    exitCode: 3,
    stdout: "refund no: no fair draw, 0 wrong of 100 (0 % to 4 %)\n",
    stderr: expect.stringContaining("The labelled records are no random draw"),
  });
  const fair = labels(rows.filter((_, index) => index % 4 === 0));
  expect((await auditOf(rows, fair)).stdout).toContain("kept, 0 wrong of 100");
});

test("a skip counts as wrong, also an empty row of a drawn sheet above a filled one", async () => {
  const rows = acts(100);
  const skipped = labels(rows).map((label, index) =>
    index < 30 ? { id: label.id, truth: null, skipped: true } : label,
  );
  expect(await auditOf(rows, skipped)).toMatchObject({
    exitCode: 1,
    stdout: "refund no: broken, 30 wrong of 100 (at least 22.4 %, with 95 % confidence)\n",
    stderr: "Skipped, or labelers tie: 30 labels, counted as wrong.\n",
  });
  const sheet = labels(rows).map((label, index) => {
    const truth = index % 3 === 0 || index > 90 ? null : label.truth;
    return { id: label.id, truth, drawn: 0.4 };
  });
  const { stdout, stderr } = await auditOf(rows, sheet);
  expect(stdout).toMatch(/^refund no: broken, 30 wrong of 90 /);
  expect(stderr).toContain("Not filled in yet: 10 labels.");
});

test("each artifact, question and action has a line; no act is passed over", async () => {
  const [no, yes] = [acts(60), acts(60, { act: "yes", prefix: "y" })];
  const spam = acts(90, { act: "yes", question: "spam" });
  const later = acts(60, { changed: { artifact: "9a".repeat(8) }, prefix: "z" });
  const all = [...no, ...yes, ...spam];
  const rows = [...no, leftToPerson, ...yes, ...spam];
  expect(await auditOf(rows, labels(all, 30))).toMatchObject({
    exitCode: 1,
    stdout:
      "refund no: broken, 30 wrong of 60 (at least 35.7 %, with 95 % confidence)\nrefund yes: not enough labels, 0 wrong of 60 (0 % to 6 %)\nspam yes: kept, 0 wrong of 90 (at most 4.5 %, with 95 % confidence)\n",
  });
  const two = await auditOf([...acts(80), ...later], labels([...acts(80), ...later.slice(0, 9)]));
  expect(two).toMatchObject({ exitCode: 3 });
  expect(two.stdout).toBe(
    "refund no (calibration 3f0c9e1b2d4a5c6d): kept, 0 wrong of 80 (at most 4.6 %, with 95 % confidence)\nrefund no (calibration 9a9a9a9a9a9a9a9a): not enough labels, 0 wrong of 9 (0 % to 34 %)\n",
  );
  const one = await auditOf(rows, labels(all), ["--question", "spam", "--json"]);
  expect(JSON.parse(one.stdout)).toEqual([
    {
      artifact: evidence.artifact,
      question: "spam",
      action: "yes",
      threshold: 0.97,
      maxRisk: 0.05,
      confidence: 0.95,
      verdict: "holds",
      n: 90,
      wrong: 0,
      low: 0,
      high: expect.closeTo(0.0402, 4),
      atLeast: 0,
      atMost: expect.closeTo(0.0327, 4),
    },
  ]);
});

test("acts on options share one promise, also if some are named yes and no", async () => {
  const rows = ["yes", "no", "unclear"].flatMap((act) => acts(30, { act, prefix: act }));
  const truths = rows.map(({ id, act }, index) => ({ id, truth: index === 5 ? "unclear" : act }));
  expect(await auditOf(rows, truths)).toMatchObject({
    exitCode: 3,
    stdout: "refund top: not enough labels, 1 wrong of 90 (0 % to 7 %)\n",
  });
  const levels = acts(60, { act: "2" });
  const numbers = levels.map(({ id }) => ({ id, truth: 2 }));
  expect((await auditOf(levels, numbers)).stdout).toContain("refund top: kept, 0 wrong of 60");
});

test("labels without an act are counted", async () => {
  const rows = [...acts(60), leftToPerson];
  const others = ["p1", "typo"].map((id) => ({ id, truth: true }));
  expect(await auditOf(rows, [...labels(acts(60)), ...others])).toMatchObject({
    exitCode: 0,
    stderr: "Left out: 2 labels of records without an act.\n",
  });
});

test("labels of other records than the acts are named with their number", async () => {
  expect(await auditOf(acts(2), [{ id: "typo", truth: true }])).toMatchObject({
    exitCode: 3,
    stderr: expect.stringContaining(
      "No label of later.ndjson has an act (labels by question: refund: 1). Compare the ids of the two files.",
    ),
  });
  expect(await auditOf(acts(2), [])).toMatchObject({
    exitCode: 3,
    stderr: "later.ndjson has no label of refund.\n",
  });
});

test("several labelers vote; a second label of one labeler is refused without --last", async () => {
  const rows = acts(60);
  const ada = labels(rows).map((label) => Object.assign(label, { labeler: "ada" }));
  const bob = [{ id: "t0", truth: "yes", labeler: "bob" }];
  expect((await auditOf(rows, [...ada, ...bob])).stdout).toContain("1 wrong of 60");
  const again = [...ada, { id: "t0", truth: "yes", labeler: "ada" }];
  expect(await auditOf(rows, again)).toMatchObject({
    exitCode: 1,
    stdout: "",
    stderr: expect.stringContaining('later.ndjson line 61: record "t0" is labelled a second time'),
  });
  expect((await auditOf(rows, again, ["--last"])).stdout).toContain("1 wrong of 60");
});

test.each([
  ["a second act", [...acts(2), acts(1)[0]], "acts.ndjson line 3: is a second act on a"],
  [
    "a second act without a label",
    [...acts(2, { prefix: "u" }), acts(2, { prefix: "u" })[1]],
    "acts.ndjson line 3: is a second act on a",
  ],
  ["no id", [{ question: "refund", act: "no" }], "acts.ndjson line 1: id is missing or wrong"],
  ["no evidence", [{ id: "a", question: "q", act: "no" }], "line 1: evidence is missing or wrong"],
  [
    "a wrong value",
    acts(1, { changed: { printed: 2 } }),
    "line 1: evidence.printed is missing or wrong",
  ],
])("%s is named with file and line", async (_, lines, message) => {
  const { exitCode, stdout, stderr } = await auditOf(lines as object[], labels(acts(1)));
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  expect(stderr).toContain(message);
});

test("acts without one act, and truths that are no yes and no no, are refused", async () => {
  expect(await auditOf([leftToPerson], labels(acts(1)))).toEqual({
    exitCode: 3,
    stdout: "",
    stderr: "acts.ndjson has no act; give the lines that act printed.\n",
  });
  expect(await auditOf(acts(1), [{ id: "t0", truth: "flase" }])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('later.ndjson line 1: truth of "refund" is "flase"'),
  });
});

test("labels that made the promise do not count: those of the artifact, and those with a draw", async () => {
  const folder = await folderWith(1200, { questionHash: "asked" });
  await run(folder, calibrate);
  const text = await readFile(join(folder, "calibration", "calibration.json"), "utf8");
  const artifact = artifactHash(parseCalibrationArtifact(text));
  const made = acts(60, { prefix: "r", question: "scam", changed: { artifact } });
  const fresh = acts(70, { prefix: "n", question: "scam", changed: { artifact } });
  await writeLines(folder, "acts.ndjson", [...made, ...fresh]);
  const drawn = labels(fresh.slice(60)).map((label) =>
    Object.assign(label, { draw: { plan: "p", at: 1 } }),
  );
  await writeLines(folder, "later.ndjson", [
    ...labels(made, 40),
    ...labels(fresh.slice(0, 60)),
    ...drawn,
  ]);
  const audit = ["audit", "acts.ndjson", "--labels", "later.ndjson"];
  const known = ["--artifact", "calibration/calibration.json"];
  expect(await run(folder, [...audit, ...known])).toEqual({
    exitCode: 0,
    stdout: "scam no: kept, 0 wrong of 60 (at most 4.9 %, with 95 % confidence)\n",
    stderr:
      "Left out: 60 labels that made the promise.\nLeft out: 10 labels that were drawn for a promise, so they are no random draw.\n",
  });
  expect((await run(folder, audit)).stdout).toContain("broken, 40 wrong of 120");
  await writeLines(folder, "later.ndjson", drawn);
  expect(await run(folder, [...audit, ...known])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("were drawn for a promise, so they are no random draw; label"),
  });
  await writeLines(folder, "acts.ndjson", acts(60));
  expect(await run(folder, [...audit, ...known])).toMatchObject({
    exitCode: 1,
    stdout: "",
    stderr: expect.stringContaining(
      "No act is of calibration/calibration.json; give the calibration that act used.",
    ),
  });
});
