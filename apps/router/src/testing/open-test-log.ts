import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, onTestFinished } from "vitest";
import { openDecisionLog } from "../records/decision-log.ts";

/** Opens a decision log for the length of a test; a failed write fails the test. */
export async function openTestLog() {
  const path = join(await temporaryFolder(), "decisions.jsonl");
  const log = await openDecisionLog(path, (line) => expect.fail(line));
  onTestFinished(() => log.close());
  return { path, log };
}
