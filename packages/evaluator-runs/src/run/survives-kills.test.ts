import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { killAgainAndAgain } from "../testing/kills/kill-again-and-again.ts";

// The same with 200 kills: npm run test:kill -w evaluator-runs
test(
  "killed at any moment and run again, the file ends up the same",
  { timeout: 300_000 },
  async () => {
    const report = await killAgainAndAgain(await temporaryFolder(), 4);
    expect(report.differences).toEqual([]);
    expect(report.askedAgain).toBeGreaterThanOrEqual(0);
    expect(report.askedAgain).toBeLessThanOrEqual(report.bound);
    expect(report.rounds).toBeGreaterThan(0);
    expect(report.killsWhileAsking).toBeGreaterThan(0);
  },
);
