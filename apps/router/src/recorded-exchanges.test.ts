import { replayExchanges } from "evaluator-client/replay-exchanges";
import { expect, onTestFinished, test, vi } from "vitest";
import { defaultTierModels, parseRouterOptions } from "./router-options.ts";
import type { MessageRecord } from "./records/message-record.ts";
import { checkPrompts } from "./self-check/run-self-check.ts";
import { connectServices } from "./services/connect-services.ts";
import { plantedKey } from "./testing/keep-output.ts";
import { readEvents } from "./testing/read-answers.ts";
import { eventOf } from "./testing/reply-stream.ts";
import { runHere } from "./testing/start-program.ts";
import { testRouter } from "./testing/test-router.ts";

const env = { AI_GATEWAY_API_KEY: plantedKey };
const requestId = "0f4e0f4e-49c4-4ab6-8ab6-4869d5d53f65";

/** Returns the gateway's exchange of a reply, in the form of the language model specification. */
function replyExchange(model: string, message: string) {
  return {
    name: `gateway/reply-of-${model}`,
    description: "A reply of one sentence.",
    provenance: { source: "contract" as const, section: "4.3" },
    request: {
      method: "POST" as const,
      path: "/v4/ai/language-model",
      headers: { "ai-language-model-id": model, "content-type": "application/json" },
      body: {
        prompt: [{ role: "user", content: [{ type: "text", text: message }] }],
        headers: { "x-request-id": requestId },
        providerOptions: { openai: { store: false } },
      },
    },
    response: {
      status: 200,
      headers: { "content-type": "application/json" },
      body: {
        content: [{ type: "text", text: `${model} answers.` }],
        finishReason: { unified: "stop", raw: "stop" },
        usage: { inputTokens: { total: 3 }, outputTokens: { total: 4 } },
        warnings: [],
      },
    },
  };
}

/** Returns the exchange of a streamed reply in two pieces. */
function streamedExchange(model: string, message: string) {
  const exchange = replyExchange(model, message);
  const parts = [
    { type: "stream-start", warnings: [] },
    { type: "text-start", id: "0" },
    { type: "text-delta", id: "0", delta: "Hello, " },
    { type: "text-delta", id: "0", delta: "you." },
    { type: "text-end", id: "0" },
    {
      type: "finish",
      finishReason: { unified: "stop", raw: "stop" },
      usage: { inputTokens: { total: 3 }, outputTokens: { total: 4 } },
    },
  ];
  return {
    ...exchange,
    response: {
      status: 200,
      headers: { "content-type": "text/event-stream" },
      body: parts.map(eventOf).join(""),
    },
  };
}

/** A router with recorded decisions and one more exchange, which closes at the test's end. */
async function routerOver(reply: Parameters<typeof replayExchanges>[0][number]) {
  const network = await replayExchanges(["gateway/greeting-routes-to-nano", reply]);
  const services = connectServices(parseRouterOptions(env));
  onTestFinished(() => services.close());
  const records: MessageRecord[] = [];
  const { chat } = await testRouter({}, { services, observe: (record) => records.push(record) });
  return { network, records, chat };
}

test("a whole message over recorded exchanges: the requests, the nine fields and the record", async () => {
  const { network, records, chat } = await routerOver(replyExchange(defaultTierModels.nano, "hi"));
  const headers = { "content-type": "application/json", "x-request-id": requestId };
  const response = await chat({ message: "hi" }, { headers });
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({
    tier: "nano",
    model: "openai/gpt-5-nano",
    probabilities: { nano: 0.97, fast: 0.02, balanced: 0, frontier: 0 },
    confidence: 0.96,
    jevMs: expect.any(Number),
    replyMs: expect.any(Number),
    reply: "openai/gpt-5-nano answers.",
    replyError: null,
    usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
  });
  expect(records).toMatchObject([
    {
      outcome: "replied",
      evaluationId: "gen_contract0002",
      wire: "gateway https://ai-gateway.vercel.sh/v4/ai/evaluation-model",
      decisionCostUsd: 0.00001323,
      outputTokens: 4,
      isEstimate: false,
    },
  ]);
  const sent = network.requests.map(({ headers }) => headers["x-request-id"]);
  expect(sent).toEqual([requestId, requestId]);
});

test("a whole streamed message over recorded exchanges: the requests, the events and the record", async () => {
  const { network, records, chat } = await routerOver(
    streamedExchange(defaultTierModels.nano, "hi"),
  );
  const response = await chat(
    { message: "hi" },
    {
      headers: {
        "content-type": "application/json",
        accept: "text/event-stream",
        "x-request-id": requestId,
      },
    },
  );
  expect(response.status).toBe(200);
  expect(response.headers.get("x-router-tier")).toBe("nano");
  const events = await readEvents(response);
  expect(events).toMatchObject([
    { event: "decision", data: { tierUsed: "nano", model: "openai/gpt-5-nano", confidence: 0.96 } },
    { event: "reply", data: { delta: "Hello, you." } }, // the pieces of one chunk are joined
    { event: "done" },
  ]);
  expect(events.at(-1)?.data).toEqual({
    tier: "nano",
    model: "openai/gpt-5-nano",
    probabilities: { nano: 0.97, fast: 0.02, balanced: 0, frontier: 0 },
    confidence: 0.96,
    jevMs: expect.any(Number),
    replyMs: expect.any(Number),
    replyError: null,
    usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
  });
  expect(records).toMatchObject([
    { outcome: "replied", evaluationId: "gen_contract0002", outputTokens: 4, isEstimate: false },
  ]);
  const sent = network.requests.map(({ headers }) => headers["x-request-id"]);
  expect(sent).toEqual([requestId, requestId]);
});

test("the self-check over recorded exchanges passes, from its options to each reply", async () => {
  vi.spyOn(crypto, "randomUUID").mockReturnValue(requestId); // the body of a reply's call has it
  const tiers = ["nano", "balanced", "frontier"] as const;
  const messages: string[] = [];
  const ask = (message: string) => {
    messages.push(message);
    return Response.json({ error: "Only the messages are wanted." });
  };
  await checkPrompts(ask, () => undefined);
  const network = await replayExchanges([
    "gateway/greeting-routes-to-nano",
    "gateway/code-request-routes-to-balanced",
    "gateway/perfect-code-splits-balanced-and-frontier",
    ...tiers.map((tier, at) => replyExchange(defaultTierModels[tier], messages[at] ?? "")),
  ]);
  const { code, stdout, stderr } = await runHere("self-check", env, ["--live"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatchInlineSnapshot(`
    "Decisions are asked of typesafe-ai/jev at https://ai-gateway.vercel.sh/v4/ai/evaluation-model. Replies come from the gateway.
    ok       a bare greeting: nano (nano 0.97, fast 0.02, balanced 0, frontier 0)
    ok       a request to write code: balanced (balanced 0.78, fast 0.13, frontier 0.09, nano 0)
    ok       a request for perfect complete code: frontier (frontier 0.55, balanced 0.43, fast 0.02, nano 0)
    3 of 3 prompts passed
    "
  `);
  expect(network.requests).toHaveLength(6);
});
