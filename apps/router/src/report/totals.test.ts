import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { runHere } from "../testing/start-program.ts";
import { loggedRecord as record } from "../testing/logged-record.ts";
import { printTotals } from "./totals.ts";

async function reportOn(...lines: readonly (object | string)[]): Promise<string> {
  const path = join(await temporaryFolder(), "decisions.jsonl");
  const texts = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
  await writeFile(path, texts.join("\n"));
  return printTotals(path);
}

test("sums costs up, and reports the saving net of the decisions", async () => {
  const later = { ...record, time: "2026-11-21T08:00:00.000Z", tierUsed: "frontier", key: "alice" };
  expect(await reportOn(later, record)).toMatchInlineSnapshot(`
    "2 messages from 2026-11-20 to 2026-11-21 (UTC): $0.022. Saved against frontier only, net of the decisions: $0.178, 89 %.

      day         messages  decisions  replies  without a price  saved
      2026-11-21  1         $0.001     $0.01    0                $0.089
      2026-11-20  1         $0.001     $0.01    0                $0.089

      tier      messages  decisions  replies  without a price  saved
      nano      1         $0.001     $0.01    0                $0.089
      frontier  1         $0.001     $0.01    0                $0.089

      key    messages  decisions  replies  without a price  saved
      alice  1         $0.001     $0.01    0                $0.089
      none   1         $0.001     $0.01    0                $0.089

      cause   messages  decisions  replies  without a price  saved
      choice  2         $0.002     $0.02    0                $0.178
    "
  `);
});

test("replies that cost more than the frontier's are a loss", async () => {
  const report = await reportOn({ ...record, frontierCostUsd: 0.0055 });
  expect(report).toContain("Lost against frontier only, net of the decisions: $0.0055, -100 %.\n");
});

test("a saving of nearly all is not printed as all of it", async () => {
  const report = await reportOn({ ...record, frontierCostUsd: 11 });
  expect(report).toContain("net of the decisions: $11, > 99 %.\n");
});

test("a frontier that is free has no share", async () => {
  const report = await reportOn({ ...record, frontierCostUsd: 0 });
  expect(report).toContain("net of the decisions: $0.011.\n");
});

test("each way of getting no reply is counted by itself, and each cause", async () => {
  const undecided = { ...record, outcome: "no-decision", tierChosen: null, tierUsed: null };
  const failed = { ...record, outcome: "reply-failed", cause: "low-confidence" };
  const report = await reportOn(
    { ...undecided, failure: "TimeoutError" },
    { ...undecided, cause: null },
    failed,
    { ...failed, failure: "idle-timeout" },
    { ...record, outcome: "stopped", tierUsed: "frontier" },
    { ...record, outcome: "decided", cause: "requested", tierUsed: "fast" },
  );
  for (const row of [
    "no-decision: TimeoutError",
    "no-decision",
    "reply-failed",
    "reply-failed: idle-timeout",
    "stopped",
    "requested",
    "fast",
    "frontier",
  ]) {
    expect(report).toMatch(new RegExp(`\n  ${row} +1 `));
  }
  expect(report).toMatch(/\n {2}low-confidence +2 /);
  expect(report).not.toContain("decided");
});

test("tiers are in their order, whichever came first", async () => {
  const report = await reportOn({ ...record, tierUsed: "frontier" }, record);
  expect(report.indexOf("\n  nano ")).toBeLessThan(report.indexOf("\n  frontier "));
});

test("a reply of which one price is missing is not compared, and its decision is paid for", async () => {
  const report = await reportOn(
    record,
    { ...record, replyCostUsd: null },
    { ...record, frontierCostUsd: null },
  );
  expect(report).toContain(
    ": $0.023. Saved against frontier only, net of the decisions: $0.087, 87 %.",
  );
});

test("decisions and replies without a price are counted, those that were never made are not", async () => {
  const unpriced = { ...record, decisionCostUsd: null, replyCostUsd: null };
  const report = await reportOn(
    record,
    { ...unpriced, outputTokens: 5 },
    { ...unpriced, outputTokens: null },
    { ...unpriced, tierChosen: null },
  );
  expect(report).toMatch(/\n {2}2026-11-20 +4 +\$0.001 +\$0.01 +3 +\$0.089\n/);
});

test("several upstreams are counted, also beside older records without one", async () => {
  const [claude, local] = [
    { ...record, upstream: "claude" },
    { ...record, upstream: "local" },
  ];
  const report = await reportOn(claude, local, local, record);
  expect(report).toMatch(/\n {2}claude +1 .*\n {2}local +2 /);
});

test("a blind comparison costs its key, and is no message", async () => {
  const blind = { time: record.time, requestId: "a", blind: { spentUsd: 0.5, pair: null } };
  const report = await reportOn(record, blind);
  expect(report).toMatch(/^1 message from 2026-11-20 to 2026-11-20 \(UTC\): \$0.511\./);
  expect(report).toMatch(/\n {2}blind +0 +\$0 +\$0.5 /);
  expect(await reportOn(blind)).toMatch(
    /^0 messages from 2026-11-20 to 2026-11-20 \(UTC\): \$0.5\./,
  );
});

test("without a known price nothing is saved or lost", async () => {
  const report = await reportOn({ ...record, replyCostUsd: null });
  expect(report).toContain("The savings are unknown: no reply has a known price.\n");
  expect(report).not.toMatch(/Saved|Lost/);
});

test("lines that are no records are counted and passed over, blank ones are nothing", async () => {
  const report = await reportOn('{"time":"2026', "", "  ", record, "[]", {
    ...record,
    time: "now",
  });
  expect(report).toMatch(/^1 message from 2026-11-20 to 2026-11-20 \(UTC\)/);
  expect(report).toMatch(/\nPassed over 3 lines that are no records; the first is line 1\.\n$/);
  expect(await reportOn(record)).not.toContain("Passed over");
  await expect(reportOn("prompt,tier", "hi,nano")).rejects.toThrow(
    "has no record of a router. Name the file of ROUTER_DECISION_LOG.",
  );
});

test("the log is the one named, else the router's own", async () => {
  const env = { ROUTER_DECISION_LOG: "/nowhere/b.jsonl" };
  const named = await runHere("report", env, ["/nowhere/a.jsonl"]);
  expect(named.stderr).toContain('Cannot read the decision log "/nowhere/a.jsonl": no such');
  const own = await runHere("report", env);
  expect(own.stderr).toContain('Cannot read the decision log "/nowhere/b.jsonl": no such');
  expect((await runHere("report", {})).stderr).toContain("ROUTER_DECISION_LOG is not set");
});

test("--help prints the help of the report", async () => {
  const { code, stdout } = await runHere("report", {}, ["--help"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Usage: evaluator-router report \[options\] \[log\]\n/);
});
