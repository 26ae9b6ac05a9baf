import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type CalibrationArtifact, questionHash } from "evaluator-calibration";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { columnsOf } from "../columns/columns.ts";
import { planOf, readRules } from "./rules-file.ts";

const questions = { scam: { type: "boolean", instructions: "Is it a scam?" } } as const;

test("a rule acts on no promise about exactly some records, and says why", async () => {
  const these = { unlabelled: 227, mostWrong: 11, records: [] };
  const bound = { maxRisk: 0.05, confidence: 0.95, n: 76, wrong: 0 };
  const artifact: CalibrationArtifact = {
    version: 2,
    kind: "none",
    parameters: {},
    model: { id: "m", wire: null },
    questionHash: questionHash(questions),
    rounding: { probabilityDecimals: 2 },
    fittedOn: { n: 76, from: null, to: null, hash: "0" },
    heldOut: null,
    thresholds: [{ question: "scam", action: "yes", threshold: 0.9, ...bound, these }],
  };
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "rules.txt"), "scam >= 0.9 -> junk");
  const plan = planOf(
    await readRules("rules.txt", columnsOf(questions, { artifact }), { cwd }),
    artifact,
  );
  const [rule] = plan.rules();
  expect(rule?.promise).toBe("no promise: it is about exactly some records; use the command act");
});
