import { expect, test } from "vitest";
import { callFor, targetAt } from "../testing/reply-calls.ts";
import { limitOutput } from "./output-limit.ts";
import { connectUpstream } from "./upstream.ts";

const sent = (model: string, body: object, type = "openai-chat" as const): unknown =>
  JSON.parse(limitOutput(JSON.stringify(body), { type, model }));

test.each([
  ["o3", { max_tokens: 5, n: 1 }, { max_completion_tokens: 5, n: 1 }],
  ["openai/gpt-5-mini", { max_tokens: 5 }, { max_completion_tokens: 5 }],
  ["gpt-5", { max_tokens: 5, max_completion_tokens: 7 }, { max_completion_tokens: 7 }],
  ["gpt-5", { max_tokens: null }, { max_tokens: null }],
  ["gpt-4o", { max_tokens: 5 }, { max_tokens: 5 }],
  ["gpt-4o", { max_completion_tokens: 5 }, { max_completion_tokens: 5 }],
  ["mistral-large-latest", { max_completion_tokens: 5 }, { max_tokens: 5 }],
  ["mistralai/codestral", { max_completion_tokens: 5 }, { max_tokens: 5 }],
  ["mistralai/mixtral-8x7b", { max_completion_tokens: 5, seed: 1 }, { max_tokens: 5, seed: 1 }],
  ["foo-4", { max_completion_tokens: 5 }, { max_completion_tokens: 5 }],
])("%s gets the limit of %j as %j", (model, body, expected) => {
  expect(sent(model, body)).toEqual(expected);
});

test("Anthropic's thinking is within the limit, and a thinker without room does not think", () => {
  const limitOf = (most: number): unknown => {
    const body = { max_tokens: 9000, thinking: { type: "enabled", budget_tokens: 8000 } };
    const call = { type: "anthropic" as const, model: "m", most };
    return JSON.parse(limitOutput(JSON.stringify(body), call));
  };
  expect(limitOf(4000)).toEqual({
    max_tokens: 4000,
    thinking: { type: "enabled", budget_tokens: 2000 },
  });
  expect(limitOf(1000)).toEqual({ max_tokens: 1000 });
});

test("the limit of a client's own body gets the name that its model takes", async () => {
  const bodies: unknown[] = [];
  const fetch: typeof globalThis.fetch = async (_, init) => {
    bodies.push(init?.body);
    return new Response('{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}');
  };
  const service = {
    type: "openai-chat",
    name: "a",
    baseUrl: "http://a.invalid",
    apiKey: "k",
  } as const;
  const target = targetAt(connectUpstream({ ...service, fetch }), "o3");
  const body = { model: "auto", max_tokens: 5 };
  const passed = {
    upstreamType: service.type,
    unsupported: null,
    json: JSON.stringify(body),
    body,
  };
  expect((await callFor([target], { passed }).reply).replyError).toBeNull();
  expect(bodies).toEqual(['{"max_completion_tokens":5,"model":"o3"}']);
});
