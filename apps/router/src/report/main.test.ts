import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { runHere, startProgram } from "../testing/start-program.ts";
import { loggedRecord } from "../testing/logged-record.ts";

const record = {
  ...loggedRecord,
  decisionCostUsd: 0.000014,
  replyCostUsd: 0.00002,
  frontierCostUsd: 0.004,
};
const failed = { ...record, replyCostUsd: null, frontierCostUsd: null, outcome: "reply-failed" };
const undecided = {
  ...failed,
  outcome: "no-decision",
  failure: "RateLimitError",
  tierChosen: null,
  tierUsed: null,
  cause: null,
  decisionCostUsd: null,
};

async function logOf(lines: readonly string[]): Promise<string> {
  const path = join(await temporaryFolder(), "decisions.jsonl");
  await writeFile(path, lines.join("\n"));
  return path;
}

test("prints tiers, causes, failures, and what was saved net of the decisions", async () => {
  const raised = { ...record, tierUsed: "fast", cause: "low-confidence" };
  const last = { ...record, time: "2026-11-21T08:00:00.000Z" };
  const lines = [record, raised, failed, undecided, last].map((line) => JSON.stringify(line));
  const path = await logOf([...lines, '{"time":"2026']);
  const { code, stdout, stderr } = await startProgram("main.ts", { ROUTER_DECISION_LOG: path }, [
    "report",
  ]).ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatchInlineSnapshot(`
    "5 messages from 2026-11-20T08:00:00.000Z to 2026-11-21T08:00:00.000Z

    Tiers used
      nano                        3  60%
      fast                        1  20%
      balanced                    0  0%
      frontier                    0  0%

    Not simply the model's choice
      low-confidence              1  20%

    Promises for the choices
      none                        4  80%

    Failures
      reply failed                1  20%
      no decision: RateLimitError 1  20%

    Costs of the 3 replies whose prices are known
      frontier tier only          $0.012
      replies as routed           $0.00006
      all decisions               $0.000056
    Saved against frontier only, net of the decisions: $0.0119, 99%
    Lines passed over because they are no records: 1
    "
  `);
});

test("without a price there is no saving to tell", async () => {
  const path = await logOf([JSON.stringify({ ...record, replyCostUsd: null })]);
  const { stdout } = await runHere("report", {}, [path]);
  expect(stdout).toContain("The savings are unknown: no reply has a known price.\n");
  expect(stdout).not.toMatch(/Saved|Lost/);
});

test("an empty log is no error", async () => {
  const path = await logOf([]);
  const { code, stdout } = await runHere("report", {}, [path]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "The decision log has no messages.\n" });
});

test.each([
  [[], "No decision log is named"],
  [["a", "b"], "Expected 1 argument but got 2"],
])("%j says how to ask for the usage, and ends it with 1", async (args, message) => {
  const { code, stdout, stderr } = await runHere("report", {}, args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(message);
  expect(stderr).toContain("\nFor its options: evaluator-router report --help\n");
});

test("a log that cannot be read is one line and a 1", async () => {
  const path = "/nowhere/decisions.jsonl";
  const { code, stdout, stderr } = await runHere("report", {}, [path]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain('The decision log "/nowhere/decisions.jsonl" cannot be read');
  expect(stderr).toMatch(/^[^\n]+\n$/);
});
