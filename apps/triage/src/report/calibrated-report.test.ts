import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CalibrationArtifact } from "evaluator-calibration";
import { sampleCalibration } from "evaluator-runs/testing";
import { expect, test } from "vitest";
import { triageQuestions } from "../questions/triage-questions.ts";
import { recordingTransport, sampleMail, sampleResponse } from "../testing/samples.ts";
import { folderWith, startTriage } from "../testing/start-triage.ts";

const questions = triageQuestions("the user");

async function triage(calibration: unknown) {
  const cwd = await folderWith([sampleMail()]);
  await writeFile(join(cwd, "calibration.json"), JSON.stringify(calibration));
  const transport = recordingTransport(() => sampleResponse(), "typesafe-ai/jev");
  await startTriage(["inbox.json", "--calibration", "calibration.json"], { cwd, transport });
  return cwd;
}

test("a report shows both values, and what the calibration rests on", async () => {
  const cwd = await triage(sampleCalibration(questions));
  await startTriage(["report", "inbox.json"], { cwd });
  const page = await readFile(join(cwd, "inbox.triage.html"), "utf8");
  expect(page).toContain("Calibrated on 1,204 labels for typesafe-ai/jev.");
  expect(page).toContain("answer 0.12, calibrated yes: 0.02");
});

// A printed 0.12 is a recalibrated 0.02, so the rule takes the mail, and the promise does not reach it.
const noScam = { question: "scam", action: "no", maxRisk: 0.05, confidence: 0.95, level: 0.05 };
test.each([
  [0.88, "promised: at most 5 % of all"],
  [0.89, "no promise for any: at most 5 % of all"],
])("a report compares a no promised at %s with the printed 0.12", async (threshold, promise) => {
  const thresholds = [{ ...noScam, threshold, n: 92, wrong: 0 }];
  const cwd = await triage(
    sampleCalibration(questions, { thresholds } as Partial<CalibrationArtifact>),
  );
  await writeFile(join(cwd, "rules.txt"), "scam <= 0.05 -> keep\n");
  const set = `"no" answers to scam printed at ${threshold} and above are wrong`;
  const basis = "with 95 % confidence (0 of 92 labels)";
  await startTriage(["report", "inbox.json", "--rules", "rules.txt"], { cwd });
  const page = await readFile(join(cwd, "inbox.triage.html"), "utf8");
  const shown = page.replaceAll("&quot;", '"').replaceAll("\u00A0", " ");
  expect(shown).toContain(`${promise} ${set}, ${basis}`);
});
