import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CalibrationArtifact } from "evaluator-calibration";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { printTotals } from "../report/totals.ts";
import { openTestLog } from "../testing/open-test-log.ts";
import { promised, questions, state, twoServices } from "../testing/two-services.ts";

const ofSecond: CalibrationArtifact = { ...promised, model: { id: "large", wire: null } };

test.each<[string, CalibrationArtifact[], boolean | null]>([
  ["0.99", [], true],
  ["1", [], false],
  ["calibration", [ofSecond], true],
  ["calibration", [{ ...ofSecond, thresholds: [] }], null],
  ["calibration", [promised], false],
])("the second service has its own bound %s", async (ownUnsure, more, isSure) => {
  const calibrations = [promised, ...more];
  const { ask, second } = await twoServices({ unsure: "calibration", ownUnsure, calibrations });
  const { body } = await ask();
  expect(second.asked).toEqual([["scam"]]);
  expect(body).toMatchObject({ x_route: { scam: { step: 2, isSure } } });
});

test("each service has its promise in the header", async () => {
  const given = { unsure: "calibration", ownUnsure: "calibration" };
  const { ask } = await twoServices({ ...given, calibrations: [promised, ofSecond] });
  const { headers } = await ask();
  expect(headers.get("x-router-promise")).toMatch(/^scam: act yes at 0\.70: at most 5 % wrong/);
});

test("of two services with one model, a promise of the first is none of the second", async () => {
  const given = { unsure: "calibration", secondModel: "small" };
  const first = await twoServices({ ...given, calibrations: [promised] });
  const { headers } = await first.ask();
  expect(first.second.asked).toEqual([["scam"]]);
  expect(headers.get("x-router-promise")).toMatch(/^scam: none, no-promise;/);
  const ofStep = { ...promised, model: { id: "small", wire: "typesafe (step 2)" } };
  const both = await twoServices({ ...given, calibrations: [promised, ofStep] });
  const { headers: promise } = await both.ask();
  expect(promise.get("x-router-promise")).toMatch(/^scam: act yes at 0\.70/);
});

test("the report counts the wrong answers of each service by labels of requests", async () => {
  const { ask, records } = await twoServices({ hasLogText: true });
  for (let at = 0; at < 3; at += 1) await ask();
  await ask("/v1/systemone", { state, questions: { kind: questions.kind } });
  const { log } = await openTestLog();
  for (const record of records) log.add(record);
  await log.written();
  const [one = "", two = "", , four = ""] = records.map(({ requestId }) => requestId);
  const labels = [
    { id: one, question: "scam", truth: true },
    { id: two, question: "scam", truth: false },
    { id: one, question: "kind", truth: "other" },
    { id: two, question: "kind", truth: "prize" },
    { id: four, question: "kind", truth: "prize" },
    { id: "another", question: "kind", truth: "prize" },
  ];
  const path = join(await temporaryFolder(), "labels.ndjson");
  const write = async (lines: readonly object[]) =>
    await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const { signal } = new AbortController();
  const report = async () => await printTotals(log.path, { path, signal });
  await write(labels);
  expect(await report()).toContain(
    "Step 2, typesafe large: 3 answers in 3 calls, $0.0191. Wrong answers by the labels: 1 of 3 of step 1, 1 of 2 of step 2.",
  );
  await write([{ id: one, question: "kind", truth: "spam" }]);
  await expect(report()).rejects.toThrow('labels.ndjson line 1: truth of "kind" is "spam"');
  await write([]);
  expect(await report()).toContain("No answer is labelled");
});
