import { expect, test } from "vitest";
import { sampleMail } from "./testing/samples.ts";
import { folderWith, startTriage } from "./testing/start-triage.ts";

async function explained(words: readonly string[], fields = {}) {
  const cwd = await folderWith([sampleMail(fields)]);
  await startTriage(["inbox.json"], { cwd });
  return await startTriage(["explain", ...words], { cwd });
}

test("prints state, questions, all probabilities, confidence, model and cost of one mail", async () => {
  const { exitCode, stdout } = await explained(["m-1"]);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^mail +m-1\nasked +unknown through gateway\nmodel +not reported\n/);
  expect(stdout).toContain("for 300 tokens");
  expect(stdout).toMatch(/^ +subject +Your statement is ready$/m);
  expect(stdout).toMatch(
    /^category \(choice\): What kind of email is this, received by the user\?$/m,
  );
  expect(stdout).toMatch(/^ +answer +receipt\n +confidence +0\.9\n/m);
  expect(stdout).toMatch(/^ +1\.00 +receipt +payment receipt, invoice, billing notice$/m);
  expect(stdout).toMatch(/^ +0\.00 +5 +insane: needs response within 30 minutes/m);
  expect(stdout).toMatch(/^scam \(boolean\): .*\n +answer +yes: 0\.12$/m);
});
