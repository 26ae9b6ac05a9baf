import { expect, test } from "vitest";
import { defaultTierModels } from "../router-options.ts";
import { readEvents } from "../testing/read-answers.ts";
import { heldReply, replyStream } from "../testing/reply-stream.ts";
import { testRouter } from "../testing/test-router.ts";
import type { MessageRecord } from "./message-record.ts";

const perMillion = (input: number, output: number) => ({
  inputUsdPerMillionTokens: input,
  outputUsdPerMillionTokens: output,
});
const prices = new Map([
  [defaultTierModels.nano, perMillion(1, 2)],
  [defaultTierModels.fast, perMillion(30, 40)],
  [defaultTierModels.balanced, perMillion(500, 600)],
  [defaultTierModels.frontier, perMillion(7000, 8000)],
]);
const headers = { "content-type": "application/json", accept: "text/event-stream" };
const hi = { message: "hi" };

const wholeReply = () =>
  Response.json({
    content: [{ type: "text", text: "Hello!" }],
    finishReason: { unified: "stop" },
    usage: { inputTokens: { total: 100 }, outputTokens: { total: 10 } },
    warnings: [],
  });

function keepRecords() {
  const records: MessageRecord[] = [];
  return { records, prices, observe: (record: MessageRecord) => records.push(record) };
}

async function costsIn(request: (path: string) => Promise<Response>) {
  const text = await (await request("/metrics")).text();
  const lines = text.matchAll(
    /^router_(?:estimated_)?cost_usd_total(?:\{part="(\w+)"\})? (\S+)$/gm,
  );
  return Object.fromEntries([...lines].map(([, part = "estimated", usd]) => [part, Number(usd)]));
}

test("a reply has its model's price, and the frontier's price is that of the frontier's model", async () => {
  const { records, ...parts } = keepRecords();
  const { chat, request } = await testRouter({ reply: wholeReply }, parts);
  await chat(hi);
  expect(records).toMatchObject([{ inputTokens: 100, outputTokens: 10, isEstimate: false }]);
  const [record] = records;
  expect(record?.replyCostUsd).toBeCloseTo((100 * 1 + 10 * 2) / 1e6, 12);
  expect(record?.frontierCostUsd).toBeCloseTo((100 * 7000 + 10 * 8000) / 1e6, 12);
  const costs = await costsIn(request);
  expect(costs["reply"]).toBeCloseTo(0.00012, 12);
  expect(costs["frontier"]).toBeCloseTo(0.78, 12);
  expect(costs["decision"]).toBeCloseTo(record?.decisionCostUsd ?? Number.NaN, 12);
  expect(costs["estimated"]).toBe(0);
});

test("a reply that breaks off is paid for by an estimate, which says that it is one", async () => {
  const { records, ...parts } = keepRecords();
  const reply = () => replyStream(["a".repeat(40)], { isCut: true });
  const { chat, request } = await testRouter({ reply }, parts);
  await readEvents(await chat({ message: "b".repeat(400) }, { headers }));
  expect(records).toMatchObject([
    { outcome: "reply-failed", inputTokens: 105, outputTokens: 9, isEstimate: true },
  ]);
  expect(records[0]?.replyCostUsd).toBeCloseTo(0.000123, 12);
  expect(records[0]?.frontierCostUsd).toBeCloseTo(0.807, 12);
  expect(await costsIn(request)).toMatchObject({
    reply: expect.closeTo(0.000123, 12),
    frontier: expect.closeTo(0.807, 12),
    estimated: expect.closeTo(0.000123, 12),
  });
});

test("a reply whose reader leaves is paid for as far as it came", async () => {
  const upstream = heldReply();
  const { records, ...parts } = keepRecords();
  const { chat } = await testRouter({ reply: upstream.answer }, parts);
  const client = new AbortController();
  const answer = await chat({ message: "b".repeat(8) }, { headers, signal: client.signal });
  const reader = answer.body?.getReader();
  await reader?.read();
  upstream.send("a".repeat(12));
  await reader?.read();
  client.abort();
  await upstream.ended;
  await expect
    .poll(() => records)
    .toMatchObject([{ outcome: "stopped", inputTokens: 5, outputTokens: 1, isEstimate: true }]);
  expect(records[0]?.replyCostUsd).toBeCloseTo((5 * 1 + 1 * 2) / 1e6, 12);
});

test("a model that rejected the call is not paid for", async () => {
  const { records, ...parts } = keepRecords();
  const reply = () => Response.json({ error: { message: "no" } }, { status: 403 });
  const { chat } = await testRouter({ reply }, parts);
  await chat(hi);
  expect(records).toMatchObject([
    { outcome: "reply-failed", inputTokens: null, replyCostUsd: null, isEstimate: false },
  ]);
});

test("a conversation is estimated by all its texts", async () => {
  const { records, ...parts } = keepRecords();
  const reply = () => replyStream([], { isCut: true });
  const { request } = await testRouter({ reply }, parts);
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } };
  const messages = [
    { role: "system", content: "a".repeat(40) },
    { role: "user", content: [{ type: "text", text: "b".repeat(41) }, image] },
  ];
  const body = JSON.stringify({ model: "nano", messages, stream: true });
  const answer = await request("/v1/chat/completions", { method: "POST", headers, body });
  await answer.text();
  expect(records).toMatchObject([{ inputTokens: 1631, outputTokens: 0, isEstimate: true }]);
});

test("tokens that the gateway named before the reader left are no estimate", async () => {
  const { records, ...parts } = keepRecords();
  const usage = { inputTokens: { total: 100 }, outputTokens: { total: 10 } };
  const whole = await replyStream(["Hello!"], { usage }).text();
  const { chat } = await testRouter({ reply: () => new Response(whole) }, parts);
  const client = new AbortController();
  const answer = await chat(hi, { headers, signal: client.signal });
  const reader = answer.body?.getReader();
  for (let event = 0; event < 2; event += 1) await reader?.read();
  client.abort();
  await expect.poll(() => records).toHaveLength(1);
  expect(records).toMatchObject([{ inputTokens: 100, outputTokens: 10, isEstimate: false }]);
});
