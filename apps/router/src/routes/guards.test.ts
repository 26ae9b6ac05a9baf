import { expect, test } from "vitest";
import type { ModelPrice } from "../reply/usage.ts";
import { defaultTierModels } from "../router-options.ts";
import { testRouter } from "../testing/test-router.ts";

const message = {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: '{"message":"hi"}',
};

test("the first message waits for the prices, and so has them", async () => {
  const price = { inputUsdPerMillionTokens: 1, outputUsdPerMillionTokens: 2 };
  const prices = new Map<string, ModelPrice>();
  const tried = Promise.withResolvers<void>();
  const waiting = await testRouter({}, { prices, pricesTried: tried.promise });
  const decided = waiting.request("/decide", message);
  const ready = await testRouter();
  await ready.request("/decide", message); // has all the time the first one had
  expect(waiting.seen).toEqual([]);
  prices.set(defaultTierModels.nano, price);
  tried.resolve();
  expect(await (await decided).json()).toMatchObject({ prices: { model: price, frontier: null } });
});

test.each([
  [2, true, 200],
  [17, true, 413],
  [15, false, 200],
  [17, false, 413],
])("a conversation of %i MiB that says its length (%s) is answered with %i", async (...row) => {
  const [mebibytes, saysLength, status] = row;
  const { request } = await testRouter();
  const content = "x".repeat(mebibytes * 1024 * 1024);
  const body = JSON.stringify({ model: "nano", messages: [{ role: "user", content }] });
  const length = saysLength ? { "content-length": String(body.length) } : {};
  const headers = { "content-type": "application/json", ...length };
  const response = await request("/v1/chat/completions", { method: "POST", body, headers });
  expect(response.status).toBe(status);
});
