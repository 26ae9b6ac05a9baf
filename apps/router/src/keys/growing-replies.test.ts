import { expect, test } from "vitest";
import { defaultTierModels } from "../router-options.ts";
import { budgetRouter } from "../testing/budget-router.ts";
import { replyStream } from "../testing/reply-stream.ts";

test("without max_tokens a reply goes on while there is room, and then ends with length", async () => {
  const chunks = Array.from({ length: 40 }, () => "word ".repeat(600)); // 24,000 tokens
  const reply = () => replyStream(chunks);
  const router = await budgetRouter(2, { reply });
  const response = await router.ask("balanced", { stream: true });
  const text = await response.text();
  expect(text).toContain('"finish_reason":"length"');
  expect(text).toContain("[DONE]");
  const words = text.split("word").length - 1;
  expect(words).toBeGreaterThan(2 * 4096);
  expect(words).toBeLessThan(20_000);
  expect((await router.spent()).reservedNano).toBe(0);
  const whole = await budgetRouter(2, { reply });
  const body = await (await whole.ask("balanced")).text();
  expect(JSON.parse(body)).toMatchObject({ choices: [{ finish_reason: "length" }] });
  expect(body.split("word").length - 1).toBeLessThan(20_000);
});

test("more room for a growing reply has the price of its long input", async () => {
  const chunks = Array.from({ length: 40 }, () => "word ".repeat(600));
  const reply = () => replyStream(chunks);
  const dearer = [
    { inputTokens: 10, inputUsdPerMillionTokens: 100, outputUsdPerMillionTokens: 400 },
  ];
  const price = { inputUsdPerMillionTokens: 100, outputUsdPerMillionTokens: 200 };
  const prices = new Map([[defaultTierModels.balanced, { ...price, fromInputTokens: dearer }]]);
  // At $400, there is room for 4,096 tokens, and at $200 there would be for 4,096 more.
  const router = await budgetRouter(2.6, { reply }, { prices });
  const messages = [{ role: "user", content: "a longer message than ten tokens ".repeat(4) }];
  const text = await (await router.ask("balanced", { stream: true, messages })).text();
  expect(text).toContain('"finish_reason":"length"');
  expect(text.split("word").length - 1).toBeLessThan(4096 + 600);
});
