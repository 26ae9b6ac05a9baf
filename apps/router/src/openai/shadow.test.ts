import { expect, test } from "vitest";
import type { MessageRecord } from "../message-router.ts";
import { defaultTierModels } from "../router-options.ts";
import { defaultPolicy, testRouter } from "../testing/test-router.ts";
import { type Differences, hangingUpstream } from "../testing/upstreams.ts";

const price = (usd: number) => ({ inputUsdPerMillionTokens: usd, outputUsdPerMillionTokens: usd });
const shadowModel = defaultTierModels.frontier;
const prices = new Map([
  [shadowModel, price(100)],
  [defaultTierModels.nano, price(1)],
]);

async function startShadow(differences: Differences = {}) {
  const observed = Promise.withResolvers<MessageRecord>();
  const policy = { ...defaultPolicy, shadowModel };
  const router = await testRouter(differences, { policy, prices, observe: observed.resolve });
  const ask = (model: string) =>
    router.request("/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "hi" }] }),
    });
  return { ask, record: observed.promise, chat: router.chat };
}

test("the model of ROUTER_SHADOW answers auto, and the log says what auto would have done", async () => {
  const { ask, record } = await startShadow();
  const { headers } = await ask("auto");
  expect(headers.get("x-router-model")).toBe(shadowModel);
  expect(headers.get("x-router-cause")).toBe("shadow");
  const { replyCostUsd, shadow, ...rest } = await record;
  expect(rest).toMatchObject({
    outcome: "replied",
    model: shadowModel,
    cause: "shadow",
    tierUsed: null,
    tierChosen: "nano",
    probabilities: { nano: 0.97 },
  });
  expect(shadow).toMatchObject({
    tierUsed: "nano",
    model: defaultTierModels.nano,
    cause: "choice",
  });
  expect(replyCostUsd).toBeCloseTo(100 * (shadow?.replyCostUsd ?? 0), 9);
});

test("who names a tier gets it, and /chat goes on as the contract says", async () => {
  const { ask, chat } = await startShadow();
  expect((await ask("fast")).headers.get("x-router-tier")).toBe("fast");
  expect(await (await chat({ message: "hi" })).json()).toMatchObject({
    model: defaultTierModels.nano,
  });
});

test("a decision that hangs or fails keeps nobody waiting", async () => {
  const upstream = hangingUpstream();
  const { ask } = await startShadow({ evaluation: upstream.answer });
  expect((await ask("auto")).status).toBe(200);
  const failing = await startShadow({
    evaluation: () => Response.json({ error: { message: "no" } }, { status: 500 }),
  });
  expect((await failing.ask("auto")).status).toBe(200);
  expect(await failing.record).toMatchObject({
    outcome: "replied",
    tierChosen: null,
    shadow: null,
  });
});
