import { join } from "node:path";
import type { CalibrationArtifact } from "evaluator-calibration";
import { AnswerTable } from "evaluator-calibration/reports";
import type { Question } from "evaluator-client";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { LabelFile } from "./label-file.ts";
import { auditLines, drawSpotChecks } from "./spot-checks.ts";

const ids = Array.from({ length: 300 }, (_, at) => `m-${at}`);
const question: Question = { type: "boolean", instructions: "A scam?" };

/** Returns a table of answers of 0.95 to one question. */
function answersOf() {
  const table = new AnswerTable({ last: true });
  for (const [index, id] of ids.entries()) {
    const value = { id, question: "scam", probability: 0.95, modelId: "m/one" };
    table.addRecord({ line: index + 1, value }, "answers");
  }
  return { table, questions: new Map([["scam", question]]) };
}

async function labelsWith(count: number, wrong = 0) {
  const labels = await LabelFile.open(join(await temporaryFolder(), "labels.ndjson"));
  for (const [at, id] of ids.slice(0, count).entries()) {
    const label = { id, question: "scam", labeler: "person", origin: "spot-check", week: 1 };
    await labels.save({ ...label, truth: at >= wrong });
  }
  return labels;
}

const threshold = {
  question: "scam",
  action: "yes",
  threshold: 0.9,
  maxRisk: 0.1,
  confidence: 0.9,
};
const artifact = {
  fittedOn: { ids: [] },
  thresholds: [threshold],
} as unknown as CalibrationArtifact;

test("from 40 random checks on each promise has its line, which may be that they are too few", async () => {
  const linesFor = async (
    count: number,
    wrong = 0,
    calibration: CalibrationArtifact | null = artifact,
  ) => {
    using labels = await labelsWith(count, wrong);
    return auditLines(answersOf(), labels, calibration);
  };
  expect(await linesFor(39)).toEqual(["Spot checks: 39 of 40 for an audit."]);
  expect(await linesFor(40)).toEqual([
    "Audit: scam yes: kept, 0 wrong of 40 (at most 5.6 %, with 90 % confidence)",
  ]);
  expect((await linesFor(40, 4))[0]).toContain("not enough labels, 4 wrong of 40");
  expect((await linesFor(60, 40))[0]).toContain("broken, 40 wrong of 60");
  expect(await linesFor(40, 0, null)).toEqual([
    "Spot checks: no promise to audit; calibrate first.",
  ]);
});

test("checks of other records tell nothing about a promise of exactly some", async () => {
  using labels = await labelsWith(60);
  const these = { unlabelled: 227, mostWrong: 11, records: [] };
  const thresholds = artifact.thresholds.map((locked) => Object.assign({ these }, locked));
  const [line] = auditLines(answersOf(), labels, { ...artifact, thresholds });
  expect(line).toContain("not enough labels, 0 wrong of 0");
});

test("a correction is no random check, and does not replace one", async () => {
  using labels = await labelsWith(40);
  await labels.save({
    id: "m-0",
    question: "scam",
    truth: false,
    labeler: "person",
    origin: "override",
  });
  expect(labels.spotChecks).toHaveLength(40);
  expect(auditLines(answersOf(), labels, artifact)[0]).toContain("0 wrong of 40");
});

test("a draw is of five records a week, without those that were checked before", async () => {
  using labels = await labelsWith(290);
  const monday = new Date("2026-11-23T12:00:00Z");
  const [sheet] = drawSpotChecks(answersOf(), labels, monday);
  const drawn = sheet?.records.map(({ id }) => id) ?? [];
  expect(drawn).toHaveLength(5);
  expect(drawn.every((id) => Number(id.slice(2)) >= 290)).toBe(true);
  for (const record of sheet?.records ?? []) {
    await labels.save({ ...record, question: "scam", truth: true, labeler: "person" });
  }
  const [later] = drawSpotChecks(answersOf(), labels, monday);
  expect(later?.records.map(({ id }) => id).toSorted()).toEqual(drawn.toSorted());
});

test("checks of the surest records alone have no verdict", async () => {
  const answers = answersOf();
  for (let at = 0; at < 300; at += 1) {
    const value = { id: `s-${at}`, question: "scam", probability: 0.91, modelId: "m/one" };
    answers.table.addRecord({ line: at + 1, value }, "answers");
  }
  using labels = await labelsWith(60);
  expect(auditLines(answers, labels, artifact)).toEqual([
    "Audit: scam yes: no fair draw, 0 wrong of 60 (0 % to 6 %)",
  ]);
});
