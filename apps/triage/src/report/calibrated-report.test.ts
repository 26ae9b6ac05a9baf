import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type CalibrationArtifact, questionHash } from "evaluator-calibration";
import { expect, test } from "vitest";
import { triageQuestions } from "../questions/triage-questions.ts";
import { recordingTransport, sampleMail, sampleResponse } from "../testing/samples.ts";
import { folderWith, startTriage } from "../testing/start-triage.ts";

const asked = questionHash(triageQuestions("the user"));

/** What a calibration of scam alone looks like; the slope of 2 makes sure answers surer. */
function artifact(fields: Partial<CalibrationArtifact> = {}): CalibrationArtifact {
  return {
    version: 1,
    kind: "by-question",
    model: { id: "typesafe-ai/jev", wire: null },
    questionHash: asked,
    rounding: { probabilityDecimals: 2 },
    fittedOn: { n: 1204, from: null, to: null, hash: "0" },
    heldOut: { before: 0.4, after: 0.3 },
    thresholds: [],
    parameters: {
      scam: { kind: "logistic", parameters: { intercept: 0, slope: 2 } },
      importance: { kind: "temperature", parameters: { temperature: 1 } },
    },
    ...fields,
  } as CalibrationArtifact;
}

async function triage(calibration: unknown) {
  const cwd = await folderWith([sampleMail()]);
  await writeFile(join(cwd, "calibration.json"), JSON.stringify(calibration));
  const recording = recordingTransport(() => sampleResponse());
  const modelId = "typesafe-ai/jev";
  const transport = {
    ...recording,
    send: async (...call: Parameters<typeof recording.send>) => ({
      ...(await recording.send(...call)),
      modelId,
    }),
  };
  await startTriage(["inbox.json", "--calibration", "calibration.json"], { cwd, transport });
  return cwd;
}

test("a report shows both values, and what the calibration rests on", async () => {
  const cwd = await triage(artifact());
  await startTriage(["report", "inbox.json"], { cwd });
  const page = await readFile(join(cwd, "inbox.triage.html"), "utf8");
  expect(page).toContain("Calibrated on 1,204 labels for typesafe-ai/jev.");
  expect(page).toContain("answer 0.12, calibrated yes: 0.02");
});

// A printed 0.12 is a recalibrated 0.02, so the rule takes the mail, and the promise does not reach it.
const noScam = { question: "scam", action: "no", maxRisk: 0.05, confidence: 0.95, level: 0.05 };
test.each([
  [0.88, "promised: at most 5 % of all"],
  [0.89, "no promise for any of them: at most 5 % of all"],
])("a report compares a no promised at %s with the printed 0.12", async (threshold, promise) => {
  const thresholds = [{ ...noScam, threshold, n: 92, wrong: 0 }];
  const cwd = await triage(artifact({ thresholds } as Partial<CalibrationArtifact>));
  await writeFile(join(cwd, "rules.txt"), "scam <= 0.05 -> keep\n");
  const set = `"no" answers to scam printed at ${threshold} and above are wrong`;
  const basis = "with 95 % confidence (0 of 92 labels)";
  await startTriage(["report", "inbox.json", "--rules", "rules.txt"], { cwd });
  const page = await readFile(join(cwd, "inbox.triage.html"), "utf8");
  const shown = page.replaceAll("&quot;", '"').replaceAll("\u00A0", " ");
  expect(shown).toContain(`${promise} ${set}, ${basis}`);
});
