import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CliError } from "evaluator-kit";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { runHere } from "../testing/start-program.ts";
import { readRecords } from "./read-records.ts";
import { loggedRecord as record } from "../testing/logged-record.ts";
import { describeSummary, summarize } from "./summary.ts";

async function reportOn(...lines: readonly (object | string)[]): Promise<string> {
  const path = join(await temporaryFolder(), "decisions.jsonl");
  const texts = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
  await writeFile(path, texts.join("\n"));
  return describeSummary(await summarize(readRecords(path)));
}

test("sums costs up, and tells the saving net of the decisions", async () => {
  expect(await reportOn(record, { ...record, time: "2026-11-21T08:00:00.000Z" }))
    .toMatchInlineSnapshot(`
      "2 messages from 2026-11-20T08:00:00.000Z to 2026-11-21T08:00:00.000Z

      Tiers used
        nano                        2  100%
        fast                        0  0%
        balanced                    0  0%
        frontier                    0  0%

      Promises for the choices
        none                        2  100%

      Costs of the 2 replies whose prices are known
        frontier tier only          $0.2
        replies as routed           $0.02
        all decisions               $0.002
      Saved against frontier only, net of the decisions: $0.178, 89%
      "
    `);
});

test("a stopped reply is counted with its estimated price, and said to be one", async () => {
  const stopped = { ...record, outcome: "stopped", isEstimate: true };
  expect(await reportOn(record, stopped)).toMatchInlineSnapshot(`
    "2 messages from 2026-11-20T08:00:00.000Z to 2026-11-20T08:00:00.000Z

    Tiers used
      nano                        2  100%
      fast                        0  0%
      balanced                    0  0%
      frontier                    0  0%

    Promises for the choices
      none                        2  100%

    Failures
      stopped by the client       1  50%

    Costs of the 2 replies whose prices are known
      frontier tier only          $0.2
      replies as routed           $0.02
      all decisions               $0.002
      (1 stopped or broke off: their tokens are an estimate)
    Saved against frontier only, net of the decisions: $0.178, 89%
    "
  `);
});

test("replies that cost more than the frontier's are a loss", async () => {
  const report = await reportOn({ ...record, frontierCostUsd: 0.0055 });
  expect(report).toContain("Lost against frontier only, net of the decisions: $0.0055, -100%\n");
});

test("a frontier that is free has no share", async () => {
  const report = await reportOn({ ...record, frontierCostUsd: 0 });
  expect(report).toContain("net of the decisions: $0.011\n");
});

test("each way of getting no reply is counted by itself, and each cause but the choice", async () => {
  const report = await reportOn(
    {
      ...record,
      outcome: "no-decision",
      failure: "TimeoutError",
      tierChosen: null,
      tierUsed: null,
    },
    {
      ...record,
      outcome: "no-decision",
      failure: null,
      tierChosen: null,
      tierUsed: null,
      cause: null,
    },
    { ...record, outcome: "reply-failed", cause: "low-confidence" },
    { ...record, outcome: "reply-failed", cause: "low-confidence", tierUsed: "frontier" },
    { ...record, outcome: "decided", cause: "requested", tierUsed: "fast" },
  );
  expect(report).toMatchInlineSnapshot(`
    "5 messages from 2026-11-20T08:00:00.000Z to 2026-11-20T08:00:00.000Z

    Tiers used
      nano                        1  20%
      fast                        1  20%
      balanced                    0  0%
      frontier                    1  20%

    Not simply the model's choice
      low-confidence              2  40%
      requested                   1  20%

    Promises for the choices
      none                        3  60%

    Failures
      no decision: TimeoutError   1  20%
      no decision: unknown        1  20%
      reply failed                2  40%

    Costs of the 5 replies whose prices are known
      frontier tier only          $0.5
      replies as routed           $0.05
      all decisions               $0.005
    Saved against frontier only, net of the decisions: $0.445, 89%
    "
  `);
});

test("a reply of which one price is missing is not compared, and its decision is paid for", async () => {
  const report = await reportOn(
    record,
    { ...record, replyCostUsd: null },
    { ...record, frontierCostUsd: null },
  );
  expect(report).toContain("Costs of the 1 replies whose prices are known\n");
  expect(report).toContain("all decisions               $0.003\n");
});

test("a decision without a price is said, one that was never made is not", async () => {
  const unpriced = { ...record, decisionCostUsd: null };
  const report = await reportOn(record, unpriced, unpriced, { ...unpriced, tierChosen: null });
  expect(report).toContain("  (2 decisions have no known price)\n");
});

test("a decision and a reply without a price cost an unknown amount, not 0", async () => {
  const local = { ...record, decisionCostUsd: null, replyCostUsd: null, outputTokens: 5 };
  expect(await reportOn(local)).toContain("  all decisions               unknown\n");
  const report = await reportOn(record, local, local, { ...local, outputTokens: null });
  expect(report).toContain(
    "  (3 decisions have no known price)\n  (2 replies have no known price)\n",
  );
  expect(report).toContain("  all decisions               $0.001\n");
});

const cached = {
  ...record,
  endpoint: "messages",
  upstream: "claude",
  inputTokens: 100_000,
  cacheReadTokens: 95_000,
  cacheWriteTokens: 0,
  outputTokens: 500,
  reasoningTokens: 100,
};

test("the part of the input that a cache had is a share of all input", async () => {
  expect(await reportOn(cached)).toContain("  (a cache had 95% of the input tokens)\n");
  const report = await reportOn(cached, { ...cached, cacheReadTokens: null });
  expect(report).toContain("  (a cache had 48% of the input tokens)\n");
  expect(await reportOn(record)).not.toContain("cache");
});

test("several upstreams are counted, also beside older records without one", async () => {
  const other = { ...cached, endpoint: "responses", upstream: "local" };
  expect(await reportOn(cached, other, other, record)).toContain(
    "\nUpstreams\n  claude                      1  25%\n  local                       2  50%\n",
  );
  expect(await reportOn(cached, record)).not.toContain("Upstreams");
});

test("a reply that met a limit fails by its name", async () => {
  const late = { ...record, outcome: "reply-failed", replyCostUsd: null };
  const report = await reportOn({ ...late, failure: "idle-timeout" }, late);
  expect(report).toMatch(
    /\n {2}reply failed: idle-timeout +1 {2}50%\n {2}reply failed +1 {2}50%\n/,
  );
});

test("without a known price nothing is saved or lost", async () => {
  expect(await reportOn({ ...record, replyCostUsd: null })).toMatchInlineSnapshot(`
    "1 messages from 2026-11-20T08:00:00.000Z to 2026-11-20T08:00:00.000Z

    Tiers used
      nano                        1  100%
      fast                        0  0%
      balanced                    0  0%
      frontier                    0  0%

    Promises for the choices
      none                        1  100%

    The savings are unknown: no reply has a known price.
      all decisions               $0.001
    "
  `);
});

test("lines that are no records are counted and passed over, blank ones are nothing", async () => {
  const report = await reportOn('{"time":"2026', "", "  ", record, "[]", {
    ...record,
    time: "now",
  });
  expect(report).toMatch(/^1 messages from 2026-11-20T08:00:00.000Z to 2026-11-20T08:00:00.000Z\n/);
  expect(report).toMatch(/\nLines passed over because they are no records: 3\n$/);
  expect(await reportOn(record)).not.toContain("passed over");
  expect(await reportOn("nothing")).toBe(
    "The decision log has no messages.\nLines passed over because they are no records: 1\n",
  );
});

test("a log that cannot be read is one line that names it", async () => {
  const reading = summarize(readRecords("/nowhere/decisions.jsonl"));
  await expect(reading).rejects.toThrow(CliError);
  await expect(summarize(readRecords("/nowhere/decisions.jsonl"))).rejects.toThrow(
    'The decision log "/nowhere/decisions.jsonl" cannot be read: no such file or directory.',
  );
});

test("the log is the one named, else the router's own", async () => {
  const env = { ROUTER_DECISION_LOG: "/nowhere/b.jsonl" };
  const named = await runHere("report", env, ["/nowhere/a.jsonl"]);
  expect(named.stderr).toContain('"/nowhere/a.jsonl" cannot be read');
  const own = await runHere("report", env);
  expect(own.stderr).toContain('"/nowhere/b.jsonl" cannot be read');
  expect((await runHere("report", {})).stderr).toContain("ROUTER_DECISION_LOG is not set");
});

test("--help prints the help of the report", async () => {
  const { code, stdout } = await runHere("report", {}, ["--help"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Usage: evaluator-router report \[options\] \[log\]\n/);
});
