import { appendFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { openTestLog } from "../testing/open-test-log.ts";
import { testRouter } from "../testing/test-router.ts";
import { readPairs } from "./blind-figures.ts";

const time = "2026-11-20T08:00:00.000Z";
const side = (tier: string, quality: number) => ({ tier, quality, costUsd: 0.01 });
const pair = {
  routed: side("fast", 0.5),
  cheapest: side("nano", 0.4),
  dearest: side("frontier", 0.9),
};
const blind = { spentUsd: 0.02, pair };

async function openLog(...notes: readonly object[]) {
  const { path, log } = await openTestLog();
  const lines = notes.map((note) => `${JSON.stringify({ time, instance: "a", ...note })}\n`);
  await appendFile(path, lines.join(""));
  return { path, log };
}

test("a pair has the last thumb or feedback for its message, before or after it", async () => {
  const { path } = await openLog(
    { requestId: "early", thumb: "down" },
    ...["early", "twice", "dearer", "cheaper", "none"].map((requestId) => ({ requestId, blind })),
    { requestId: "failed", blind: { spentUsd: 0.01, pair: null } },
    { requestId: "twice", thumb: "down" },
    { requestId: "twice", thumb: "up" },
    { requestId: "dearer", feedback: "balanced" },
    { requestId: "cheaper", feedback: "nano" },
  );
  const pairs = await readPairs(path);
  expect(pairs.map(({ isGood }) => isGood).toReversed()).toEqual([false, true, false, true, null]);
});

test("the page has the comparison if it is on, and the spending has the key blind", async () => {
  const { log } = await openLog({ requestId: "m-0", blind });
  const { request } = await testRouter({}, { log, blind: { share: 0.02, usdPerDay: 1 } });
  const page = async (path: string) => (await request(path)).text();
  expect(await page("/decisions")).toContain("Blind shadow: 1 of 300 messages are compared.");
  expect(await page("/decisions?key=a")).not.toContain("Blind shadow");
  expect((await page("/spend")).replace(/<[^>]*>|\s+/g, " ")).toMatch(/blind\s+0\s+\$0\s+\$0.02/);
});
