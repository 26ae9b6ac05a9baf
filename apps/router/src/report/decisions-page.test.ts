import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { loggedRecord } from "../testing/logged-record.ts";
import { decisionsPage } from "./decisions-page.ts";

const record = { ...loggedRecord, outputTokens: 5 };

/** Returns the two costs of the only day: paid, and on the frontier tier. */
async function costsOnPage(...records: readonly object[]): Promise<string[]> {
  const path = join(await temporaryFolder(), "decisions.jsonl");
  await writeFile(path, records.map((each) => JSON.stringify(each)).join("\n"));
  const cells = (await decisionsPage(path)).match(/(?<=<td[^>]*>)[^<]*(?=<\/td>)/g) ?? [];
  return cells.slice(7, 9);
}

test("a day's costs are the sums of its messages", async () => {
  expect(await costsOnPage(record, record)).toEqual(["$0.022", "$0.2"]);
});

test("costs of upstreams without a price are unknown, not 0", async () => {
  const local = { ...record, decisionCostUsd: null, replyCostUsd: null, frontierCostUsd: null };
  expect(await costsOnPage(local)).toEqual(["unknown", "unknown"]);
  expect(await costsOnPage(local, record)).toEqual(["$0.011 and unknown", "$0.1 and unknown"]);
});

test("a free model costs $0", async () => {
  const free = { ...record, decisionCostUsd: 0, replyCostUsd: 0 };
  expect(await costsOnPage(free)).toEqual(["$0", "$0.1"]);
});

test("a message without a decision and a reply costs $0", async () => {
  const none = { tierChosen: null, tierUsed: null, cause: null, outputTokens: null };
  const costs = { decisionCostUsd: null, replyCostUsd: null, frontierCostUsd: null };
  const failed = { ...record, ...none, ...costs, outcome: "no-decision" };
  expect(await costsOnPage(failed)).toEqual(["$0", "$0"]);
});
