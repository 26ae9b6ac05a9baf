import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CalibrationArtifact } from "evaluator-calibration";
import { expect, test } from "vitest";
import { recordingTransport, sampleCalibration, sampleResponse } from "./testing/samples.ts";
import { sampleTicket, ticketSource } from "./testing/tickets/ticket-source.ts";
import { folderWith, readResults, startTickets } from "./testing/tickets/start-tickets.ts";

const questions = (await ticketSource.questions?.({})) ?? {};

/** Returns a calibration of the questions about tickets. */
function artifact(fields: Partial<CalibrationArtifact> = {}): CalibrationArtifact {
  return sampleCalibration(questions, fields);
}

async function answer(calibration: unknown, modelId = "typesafe-ai/jev", ...words: string[]) {
  const cwd = await folderWith([sampleTicket()]);
  await writeFile(join(cwd, "calibration.json"), JSON.stringify(calibration));
  const transport = recordingTransport(() => sampleResponse(), modelId);
  const run = (...more: string[]) => startTickets(["inbox.json", ...more], { cwd, transport });
  const outcome = await run("--calibration", "calibration.json", ...words);
  return { cwd, outcome, run, requests: transport.requests };
}

test("results hold calibrated values, the printed ones beside them, and the journal stays as it came", async () => {
  const { cwd, outcome, run, requests } = await answer(artifact());
  expect(outcome.exitCode).toBe(0);
  const [record] = await readResults(cwd);
  const odds = (0.12 / 0.88) ** 2;
  expect(record).toMatchObject({ scamPrinted: 0.12, brandDeal: 0.03, category: "receipt" });
  expect(record?.["scam"]).toBeCloseTo(odds / (1 + odds), 9);
  expect(record).toMatchObject({ importancePrinted: 2, importanceConf: null, categoryConf: 0.9 });
  expect(record).not.toHaveProperty("brandDealPrinted");

  await run();
  expect((await readResults(cwd))[0]).toMatchObject({ scam: 0.12, importanceConf: 0.8 });
  expect(requests).toHaveLength(1);
});

test("explain shows both values", async () => {
  const { cwd } = await answer(artifact());
  const { stdout } = await startTickets(["explain", "m-1"], { cwd });
  expect(stdout).toMatch(/answer\s+yes: 0\.12\s+calibrated\s+yes: 0\.02/);
});

test.each([
  ["for other questions", "another", "was made for other questions; ask those"],
  ["that names no questions", null, "has no question hash; calibrate again"],
])("a calibration %s is refused before anything is asked", async (_, questionHash, message) => {
  const { cwd, outcome, requests } = await answer(artifact({ questionHash }));
  expect(outcome).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(message) });
  expect(requests).toHaveLength(0);
  await expect(readResults(cwd)).rejects.toThrow("ENOENT");
});

test("a model id that differs by one letter writes no results, and every answer is kept", async () => {
  const { cwd, outcome, run, requests } = await answer(artifact(), "typesafe-ai/jew");
  expect(outcome).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("Nothing was written; every answer is kept."),
  });
  await expect(readResults(cwd)).rejects.toThrow("ENOENT");
  expect((await run()).exitCode).toBe(0);
  expect(requests).toHaveLength(1);
});

test("a file that is no calibration is named with what is wrong", async () => {
  const { outcome } = await answer({ version: 1 });
  expect(outcome).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("calibration.json is not a calibration"),
  });
});

// A printed 0.12 is a recalibrated 0.02, so the rule takes the ticket, and the promise does not reach it.
const noScam = { question: "scam", action: "no", maxRisk: 0.05, confidence: 0.95, level: 0.05 };
test.each([
  [
    0.88,
    "promised: at most 5 % of all",
    {
      question: "scam",
      act: "no",
      evidence: expect.objectContaining({
        artifact: expect.stringMatching(/^[0-9a-f]{16}$/),
        printed: 0.88,
        n: 92,
      }),
    },
  ],
  [0.89, "no promise for any: at most 5 % of all", { evidence: null }],
])("a no promised at %s is compared with the printed 0.12", async (threshold, promise, act) => {
  const thresholds = [{ ...noScam, threshold, n: 92, wrong: 0 }];
  const promising = artifact({ thresholds } as Partial<CalibrationArtifact>);
  const { cwd } = await answer(promising);
  await writeFile(join(cwd, "rules.txt"), "scam <= 0.05 -> keep\n");
  const exported = await startTickets(["export", "--rules", "rules.txt", "--format", "ndjson"], {
    cwd,
  });
  expect(JSON.parse(exported.stdout)).toEqual({ id: "m-1", action: "keep", ...act });
  const set = `"no" answers to scam printed at ${threshold} and above are wrong`;
  const basis = "with 95 % confidence (0 of 92 labels)";
  expect(exported.stderr).toContain(
    `line 1: scam <= 0.05 → keep: 1 ticket; ${promise} ${set}, ${basis}\n`,
  );
  const csv = await startTickets(["export", "--rules", "rules.txt", "--format", "csv"], { cwd });
  expect(csv.stdout).toBe("id,action\nm-1,keep\n");
});
