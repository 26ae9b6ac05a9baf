import { appendFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { loggedRecord } from "../testing/logged-record.ts";
import { openTestLog } from "../testing/open-test-log.ts";
import { readNotes } from "../testing/read-notes.ts";
import { testRouter } from "../testing/test-router.ts";

type Listed = Readonly<Record<"requestId" | "tier" | "costUsd" | "ms", unknown>>;

/** Opens a router on a log of messages, which have the ids m-0, m-1 and so on. */
async function openLog(...fields: readonly object[]) {
  const { path, log } = await openTestLog();
  const records = fields.map((each, at) =>
    Object.assign({ ...loggedRecord, requestId: `m-${at}` }, each),
  );
  await appendFile(path, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  const { request } = await testRouter({}, { log });
  const list = async (query = "") => {
    const response = await request(`/decisions.json${query}`);
    return (await response.json()) as { messages: Listed[]; next: string | null; error?: string };
  };
  const page = async (address: string) => (await request(address)).text();
  return { path, request, list, page };
}

const ids = (messages: readonly Listed[]) => messages.map(({ requestId }) => requestId);

test("messages are listed the latest first, a hundred a page, each once", async () => {
  const { list } = await openLog(...Array.from({ length: 250 }, () => ({})));
  const first = await list();
  const second = await list(`?after=${first.next}`);
  const third = await list(`?after=${second.next}`);
  const all = [first, second, third].flatMap(({ messages }) => ids(messages));
  expect(all).toEqual(Array.from({ length: 250 }, (_, at) => `m-${249 - at}`));
  expect([first, second, third].map(({ messages }) => messages.length)).toEqual([100, 100, 50]);
  expect(third.next).toBeNull();
});

test("a reply without a price has an unknown cost, although its decision has one", async () => {
  const priced = { decisionCostUsd: 0.001 };
  const { list, page } = await openLog(
    { ...priced, replyCostUsd: null },
    { ...priced, replyCostUsd: 0.02 },
    { ...priced, replyCostUsd: null, outcome: "decided" },
  );
  const costs = (await list()).messages.map(({ costUsd }) => costUsd);
  expect(costs).toEqual([0.001, 0.021, null]);
  expect(await page("/decisions")).toMatch(/>unknown<\/td>/);
});

test("each filter alone, and all together", async () => {
  const { list } = await openLog(
    { time: "2026-11-20T23:59:59.999Z", key: "alice" },
    { time: "2026-11-21T00:00:00.000Z", key: "alice", tierUsed: "fast", cause: "low-confidence" },
    { time: "2026-11-22T10:00:00.000Z", key: "bob", tierUsed: "fast" },
    { time: "2026-11-23T10:00:00.000Z", model: "alice", cause: null },
  );
  const found = async (query: string) => ids((await list(query)).messages);
  expect(await found("?tier=fast")).toEqual(["m-2", "m-1"]);
  expect(await found("?key=alice")).toEqual(["m-1", "m-0"]);
  expect(await found("?cause=low-confidence")).toEqual(["m-1"]);
  expect(await found("?from=2026-11-21&to=2026-11-22")).toEqual(["m-2", "m-1"]);
  expect(await found("?to=2026-11-21T00:00:00.000Z")).toEqual(["m-1", "m-0"]);
  for (const from of ["2026-11-23T10:00Z", "2026-11-23T10:00:00Z"]) {
    expect(await found(`?from=${from}`)).toEqual(["m-3"]);
  }
  const all = "?tier=fast&key=alice&cause=low-confidence&from=2026-11-20&to=2026-11-21";
  expect(await found(all)).toEqual(["m-1"]);
  expect(await found("?tier=&key=&cause=&from=&to=&after=")).toHaveLength(4); // an empty form
});

test.each([
  ["?tier=huge", "tier is none of nano"],
  ["?from=yesterday", "from is not a UTC time"],
  ["?after=-1", "after is not the next of a page"],
  ["?rate=1", "rate is no filter"],
])("%s is rejected by its field", async (query, message) => {
  const { list, request } = await openLog();
  expect((await list(query)).error).toContain(message);
  for (const path of ["/decisions", "/spend"]) {
    expect((await request(path + query)).status).toBe(400);
  }
});

test("lines of older logs, notes and torn lines are no obstacle", async () => {
  const { list, path } = await openLog({ requestId: undefined }, { decisionMs: 20, replyMs: 300 });
  await appendFile(path, '{"requestId":"m-0","thumb":"up"}\nnonsense\n\n{"time":"2026');
  expect((await list()).messages).toMatchObject([
    { requestId: "m-1", ms: 320, costUsd: 0.011, key: null, model: null },
    { requestId: null, ms: null },
  ]);
});

test("a message has its probabilities, its costs and the last thumb", async () => {
  const shares = { nano: 0.7, fast: 0.2, balanced: 0.1, frontier: 0 };
  const { page, request, path } = await openLog({ probabilities: shares, model: "<b>" }, {});
  const before = await page("/decisions/m-0");
  expect(before).toMatch(/nano<\/dt>[^%]*70\s%/);
  expect(before).toContain("$0.001");
  expect(before).toContain("&lt;b&gt;");
  expect(before).not.toContain("Noted");
  for (const thumb of ["up", "down"]) {
    const noted = await request(`/decisions/m-0?thumb=${thumb}`, { method: "POST" });
    expect([noted.status, noted.headers.get("location")]).toEqual([303, "/decisions/m-0"]);
    expect(await page("/decisions/m-0")).toContain(`Noted: ${thumb}.`);
  }
  expect(await page("/decisions/m-1")).not.toContain("Noted");
  expect(await readNotes(path)).toEqual([
    { requestId: "m-0", thumb: "up" },
    { requestId: "m-0", thumb: "down" },
  ]);
});

test("a message has the promise of its choice, or why there is none", async () => {
  const evidence = { threshold: 0.9, maxRisk: 0.05, confidence: 0.95, n: 92, wrong: 1 };
  const { page } = await openLog(
    { promise: { act: "nano", evidence } },
    { promise: { act: null, why: "below-threshold" } },
    { promise: null },
  );
  const promiseOf = async (id: string) =>
    /<dt>promise<\/dt>\s*<dd>(.*?)<\/dd>/s
      .exec(await page(`/decisions/${id}`))?.[1]
      ?.replaceAll("\u00A0", " ");
  expect(await promiseOf("m-0")).toBe(
    "at most 5 % wrong at 0.90 and above, with 95 % confidence (1 of 92 labels)",
  );
  expect(await promiseOf("m-1")).toBe("none: below-threshold");
  expect(await promiseOf("m-2")).toBe("none: no calibration");
});

test.each([
  [{ upstream: "emulator" }, true],
  [{ wire: "emulator local:emulator" }, true],
  [{ evaluatorModelId: "local/lexical-1" }, true],
  [{ upstream: "gateway", wire: "gateway https://a.example", evaluatorModelId: "a/model" }, false],
])("answers of %o are marked as the emulator's: %s", async (fields, isMarked) => {
  const { page } = await openLog(fields);
  for (const address of ["/decisions", "/decisions/m-0", "/spend"]) {
    expect((await page(address)).includes("The local emulator made answers")).toBe(isMarked);
  }
});

test("an unknown message is a 404, another thumb a 400, a foreign form a 403", async () => {
  const { request } = await openLog();
  const post = (address: string, headers = {}) => request(address, { method: "POST", headers });
  expect((await request("/decisions/m-9")).status).toBe(404);
  expect((await post("/decisions/m-0?thumb=sideways")).status).toBe(400);
  expect((await post("/decisions/a%20b?thumb=up")).status).toBe(400);
  const foreign = { origin: "http://evil.example" };
  expect((await post("/decisions/m-0?thumb=up", foreign)).status).toBe(403);
});

test("spend is summed by day, tier and key; a cost without a price is counted", async () => {
  const local = { decisionCostUsd: null, replyCostUsd: null, frontierCostUsd: null };
  const { page } = await openLog(
    { key: "alice" },
    { key: "alice", tierUsed: "fast", time: "2026-11-21T08:00:00.000Z" },
    { ...local, outputTokens: 5, time: "2026-11-21T08:00:00.000Z" },
  );
  const text = (await page("/spend")).replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
  expect(text).toContain(
    "3 messages from 2026-11-20 to 2026-11-21 (UTC): $0.022 and 2 unknown costs.",
  );
  expect(text).toContain("2026-11-21 2 $0.001 $0.01 2 $0.089 2026-11-20 1 $0.001 $0.01 0 $0.089");
  expect(text).toContain("nano 2 $0.001 $0.01 2 $0.089 fast 1 $0.001 $0.01 0 $0.089");
  expect(text).toContain("none 1 $0 $0 2 – alice 2 $0.002 $0.02 0 $0.178");
});

test("an empty log and a log that was moved have no messages", async () => {
  const { list, page } = await openLog();
  expect(await list()).toEqual({ messages: [], next: null });
  expect(await page("/decisions")).toContain("No message here matches.");
  expect(await page("/spend")).toContain("No message here matches.");
});

test("without a log the pages are a 404 that names the variable", async () => {
  const { request } = await testRouter();
  for (const path of ["/decisions", "/decisions.json", "/decisions/m-0", "/spend"]) {
    const response = await request(path);
    expect(response.status).toBe(404);
    expect(await response.text()).toContain("ROUTER_DECISION_LOG");
  }
});
