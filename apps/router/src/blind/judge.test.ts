import { createEvaluator, gatewayTransport } from "evaluator-client";
import { expect, test } from "vitest";
import { evaluationUsd } from "../keys/call-price.ts";
import { judge } from "./judge.ts";

const answer = (probability: number) => ({ type: "boolean", probability });

/** Judges two answers, of which the first is right, by a service that loses so many answers. */
async function judgedAfter(lost: number) {
  let left = lost;
  const fetch: typeof globalThis.fetch = async (_, init) => {
    if (left > 0) {
      left -= 1;
      return new Response(""); // an empty body after a 200
    }
    const { state } = JSON.parse(init?.body as string) as { state: Record<string, string> };
    const names = ["answer_1", "answer_2"];
    const answers = names.map((name) => [name, answer(state[name] === "right" ? 0.9 : 0.1)]);
    return Response.json({
      answers: Object.fromEntries(answers),
      rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
      usage: { inputTokens: 1, outputTokens: 1 },
      warnings: [],
      providerMetadata: { gateway: { marketCost: "0.00001" } },
    });
  };
  const baseUrl = "http://gateway.invalid/v4/ai";
  const transport = gatewayTransport({ apiKey: "a-key", baseUrl, fetch, env: {} });
  const evaluator = createEvaluator({ transport, maxRetries: 2 }, { random: () => 0 });
  const request = { question: "Which?", answers: ["right", "wrong"] };
  return judge(evaluator, request, { signal: new AbortController().signal, headers: {} });
}

test("each answer is rated in each place, and an evaluation that was lost is paid for", async () => {
  const { qualities, costUsd } = await judgedAfter(0);
  expect(qualities).toEqual([0.9, 0.1]);
  expect(costUsd).toBeCloseTo(0.00002, 12);
  const after = await judgedAfter(1);
  expect(after.costUsd).toBeCloseTo(0.00002 + evaluationUsd("Which?rightwrong"), 12);
});
