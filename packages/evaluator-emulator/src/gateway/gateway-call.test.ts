import { expect, test } from "vitest";
import { createAccountBook } from "../accounts.ts";
import type { EmulatorContext } from "../call.ts";
import { findModel } from "../catalog.ts";
import { createEmulator } from "../create-emulator.ts";
import { createLedger } from "../ledger.ts";
import { evaluationHeaders, post, postEvaluation } from "../testing/requests.ts";
import { settleCall } from "./gateway-call.ts";

const freeTierBurst = 3;
const freeTier = () => createEmulator({ tier: "free", exchanges: [], clock: () => 0 });

test("after a short burst evaluations are rate limited, with a routing block without attempts", async () => {
  const emulator = freeTier();
  for (let call = 0; call < freeTierBurst; call += 1) {
    expect((await postEvaluation(emulator)).status).toBe(200);
  }
  const { status, json } = await postEvaluation(emulator);
  expect(status).toBe(429);
  expect(json).toMatchObject({
    error: {
      type: "rate_limit_exceeded",
      message: expect.stringMatching(/^Free tier requests on this model are rate-limited.*paid/),
    },
    generationId: expect.stringMatching(/^gen_/),
    providerMetadata: {
      gateway: { routing: { modelAttempts: [{ success: false, providerAttempts: [] }] } },
    },
  });
  emulator.reset();
  expect((await postEvaluation(emulator)).status).toBe(200);
});

test("a rejected request does not count against the burst", async () => {
  const emulator = freeTier();
  for (let call = 0; call <= freeTierBurst; call += 1) await postEvaluation(emulator, {});
  expect((await postEvaluation(emulator)).status).toBe(200);
});

test.each([
  ["openai/gpt-5-nano", 200],
  ["anthropic/claude-fable-5.1", 403],
])("the text model %s gets %d on the free tier", async (modelId, status) => {
  const headers = {
    authorization: evaluationHeaders.authorization,
    "ai-language-model-id": modelId,
    "ai-language-model-specification-version": "4",
    "ai-language-model-streaming": "false",
    "ai-gateway-protocol-version": "0.0.1",
    "ai-gateway-auth-method": "api-key",
    "content-type": "application/json",
  };
  const body = { prompt: [{ role: "user", content: [{ type: "text", text: "hi" }] }] };
  const response = await post(freeTier(), "/v4/ai/language-model", { headers, body });
  expect(response.status).toBe(status);
  if (status === 200) return;
  expect(response.json).toMatchObject({
    error: {
      message: expect.stringMatching(/^Free tier users do not have access to this model.*paid/),
    },
  });
});

test("an account without credits is rejected with a 402", async () => {
  const keys = [{ key: "local-key", balanceUsd: 0 }];
  const { status, json } = await postEvaluation(createEmulator({ keys, exchanges: [] }));
  expect(status).toBe(402);
  expect(json).toEqual({ error: expect.objectContaining({ type: "insufficient_funds" }) });
});

test("a text costs its input and its output, which are charged and reported", () => {
  const account = createAccountBook("paid", ["k"]).find("k");
  if (account === null) throw new Error("The key is not accepted.");
  const ledger = createLedger();
  const context = { clock: () => 0, nextId: () => "A", ledger } as unknown as EmulatorContext;
  const call = { account, model: findModel("openai/gpt-5-nano"), startTime: 0 };
  const usage = { inputTokens: 1000, outputTokens: 500 };
  const answered = { standIn: null, usage, isStreamed: false, body: {} };
  // A million tokens of input are 0.05 dollars, of output 0.4.
  for (const used of [0.000_25, 0.0005]) {
    const { marketCost } = settleCall(call, answered, context);
    expect(marketCost).toBe("0.00025");
    expect(account.totalUsed).toBeCloseTo(used * 1e12, 0);
  }
  expect(ledger.generation("gen_A")).toMatchObject({ market_cost: 0.000_25 });
});
