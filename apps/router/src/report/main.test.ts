import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
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

const decided = {
  ...record,
  requestId: "a",
  probabilities: { nano: 1, fast: 0, balanced: 0, frontier: 0 },
  confidence: 1,
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
    "5 messages from 2026-11-20 to 2026-11-21 (UTC): $0.000116. Saved against frontier only, net of the decisions: $0.0119, 99 %.

      day         messages  decisions  replies   without a price  saved
      2026-11-20  4         $0.000042  $0.00004  0                $0.00792
      2026-11-21  1         $0.000014  $0.00002  0                $0.00397

      tier  messages  decisions  replies   without a price  saved
      none  1         $0         $0        0                –
      nano  3         $0.000042  $0.00004  0                $0.00792
      fast  1         $0.000014  $0.00002  0                $0.00397

      key   messages  decisions  replies   without a price  saved
      none  5         $0.000056  $0.00006  0                $0.0119

      cause           messages  decisions  replies   without a price  saved
      choice          3         $0.000042  $0.00004  0                $0.00792
      low-confidence  1         $0.000014  $0.00002  0                $0.00397

      failure                      messages  decisions  replies  without a price  saved
      reply-failed                 1         $0.000014  $0       0                –
      no-decision: RateLimitError  1         $0         $0       0                –

    Passed over line 6, which is no record.
    "
  `);
});

test("an empty log and one with notes only are no errors, and say so", async () => {
  const empty = await logOf([]);
  const notes = await logOf(['{"requestId":"a","feedback":"fast"}']);
  const report = (path: string) => runHere("report", {}, [path]);
  expect(await report(empty)).toEqual({ code: 0, stdout: `${empty} is empty.\n`, stderr: "" });
  expect(await report(notes)).toMatchObject({ stdout: `${notes} has no message yet.\n` });
  expect(await runHere("labels", {}, [empty])).toEqual({
    code: 0,
    stdout: "Labels: 0. POST /feedback and the pages of /decisions add them.\n",
    stderr: `${empty} is empty.\n`,
  });
});

test("a typed log is relative to the person's folder, also under npm", async () => {
  const INIT_CWD = dirname(await logOf([JSON.stringify(decided)]));
  for (const command of ["report", "labels"]) {
    const { ended } = startProgram("main.ts", { INIT_CWD }, [command, "decisions.jsonl"]);
    expect(await ended).toMatchObject({ code: 0, stderr: "" });
  }
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

test("labels counts the feedback on the log's decisions, and names its readers", async () => {
  const lines = [
    decided,
    { requestId: "a", feedback: "fast" },
    { requestId: "b", feedback: "fast" },
  ];
  const path = await logOf(lines.map((line) => JSON.stringify(line)));
  const { code, stdout, stderr } = await startProgram("main.ts", {}, ["labels", path]).ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining("Not used: 1") });
  expect(stdout).toBe(`Labels: 1. They are read by:
  npx evaluator-cli calibrate ${path} --answers ${path} --last
  npx evaluator-router eval ${path}
  npx evaluator-router fit ${path}
`);
});

test("labels counts none in a log without feedback", async () => {
  const path = await logOf([JSON.stringify(decided)]);
  const { code, stdout, stderr } = await startProgram("main.ts", {}, ["labels", path]).ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^Labels: 0\. /);
});

test("a log that cannot be read is one line and a 1", async () => {
  const path = "/nowhere/decisions.jsonl";
  const { code, stdout, stderr } = await runHere("report", {}, [path]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(
    'Cannot read the decision log "/nowhere/decisions.jsonl": no such file or directory. Check',
  );
  expect(stderr).toMatch(/^[^\n]+\n$/);
});
