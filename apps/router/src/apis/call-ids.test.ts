import { expect, test } from "vitest";
import { oneUpstream, upstreamNames } from "../testing/one-upstream.ts";

const legal = {
  "openai-chat": /^.{1,40}$/,
  "openai-responses": /^.{1,64}$/,
  anthropic: /^[\w-]+$/,
  gateway: /^[\w-]{1,40}$/,
};
const ids = [
  "functions.look:0",
  "call_0",
  `call_${"a".repeat(50)}`,
  "ok-1",
  "call_0",
  "é".repeat(70),
];
const question = { role: "user", content: "hi" };

/** Histories in which each id is a step of its own; the result is the step's number. */
const histories = {
  chat: (used: readonly string[]) => ({
    messages: [
      question,
      ...used.flatMap((id, step) => [
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id, type: "function", function: { name: "look", arguments: "" } }],
        },
        { role: "tool", tool_call_id: id, content: `result ${step}` },
      ]),
    ],
  }),
  messages: (used: readonly string[]) => ({
    messages: [
      question,
      ...used.flatMap((id, step) => [
        { role: "assistant", content: [{ type: "tool_use", id, name: "look", input: "" }] },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: id, content: `result ${step}` }],
        },
      ]),
    ],
  }),
  responses: (used: readonly string[]) => ({
    input: [
      question,
      ...used.flatMap((id, step) => [
        { type: "function_call", call_id: id, name: "look", arguments: "" },
        { type: "function_call_output", call_id: id, output: `result ${step}` },
      ]),
    ],
  }),
};
const apis = ["chat", "messages", "responses"] as const;

/** Returns the ids of calls and of results in a body of any service, in their order. */
function idsIn(value: unknown): { calls: string[]; results: string[] } {
  const found = { calls: [] as string[], results: [] as string[] };
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    const fields = node as Record<string, unknown>;
    const { type, role, id, call_id, tool_use_id, tool_call_id, toolCallId } = fields;
    const call = { function: id, tool_use: id, function_call: call_id, "tool-call": toolCallId };
    const result = {
      tool_result: tool_use_id,
      function_call_output: call_id,
      "tool-result": toolCallId,
    };
    const called = call[type as keyof typeof call];
    const answered = role === "tool" ? tool_call_id : result[type as keyof typeof result];
    if (typeof called === "string") found.calls.push(called);
    if (typeof answered === "string") found.results.push(answered);
    Object.values(fields).forEach(visit);
  };
  visit(value);
  return found;
}

const pairs = upstreamNames.flatMap((type) => apis.map((api) => [api, type] as const));

test.each(pairs)(
  "each call of %s has an id that %s takes, and its result the same",
  async (...pair) => {
    const [api, type] = pair;
    const { ask, body } = await oneUpstream(type);
    expect((await ask(api, histories[api](ids))).status).toBe(200);
    const { calls, results } = idsIn(body());
    expect(calls).toHaveLength(ids.length);
    expect(results).toEqual(calls);
    const kept = ids.map((id, at) => legal[type].test(id) && ids.indexOf(id) === at);
    expect(calls.filter((_, at) => kept[at])).toEqual(ids.filter((_, at) => kept[at]));
    expect(calls.filter((id) => !legal[type].test(id))).toEqual([]);
    const isUnique = type === "anthropic" || type === "gateway";
    expect(new Set(calls).size).toBe(isUnique ? ids.length : ids.length - 1);
    const text = JSON.stringify(body());
    expect([...text.matchAll(/result (\d)/g)].map(([, step]) => Number(step))).toEqual([
      0, 1, 2, 3, 4, 5,
    ]);
    expect(text).not.toContain('"arguments":""');
    // The next step repeats this one.
    expect((await ask(api, histories[api]([...ids, "next"]))).status).toBe(200);
    expect(idsIn(body()).calls).toEqual([...calls, "next"]);
  },
);

test.each(pairs)("results of %s with equal ids stay with their calls at %s", async (api, type) => {
  const { ask, body } = await oneUpstream(type);
  const { messages, input } = {
    messages: undefined,
    input: undefined,
    ...histories[api](["x", "x"]),
  };
  const [user, ...steps] = (messages ?? input ?? []) as unknown[];
  const [one, first, other, second] = steps;
  const parallel = [user, one, other, first, second];
  expect(
    (await ask(api, messages === undefined ? { input: parallel } : { messages: parallel })).status,
  ).toBe(200);
  const { calls, results } = idsIn(body());
  expect(new Set(calls).size).toBe(2);
  expect(results).toEqual(calls);
  const found = [...JSON.stringify(body()).matchAll(/result (\d)/g)];
  expect(found.map(([, step]) => Number(step))).toEqual([0, 1]);
});

test("a signature that the router keeps is found by the id that the client knows", async () => {
  const id = "functions.look:0";
  const signed = {
    content: [
      {
        type: "tool-call",
        toolCallId: id,
        toolName: "look",
        input: "{}",
        providerMetadata: { google: { thoughtSignature: "signed" } },
      },
    ],
    finishReason: { unified: "tool-calls" },
    usage: { inputTokens: { total: 5 }, outputTokens: { total: 7 } },
    warnings: [],
  };
  const { ask, body } = await oneUpstream("gateway", { answer: () => Response.json(signed) });
  expect(await (await ask("messages", {})).text()).toContain(id);
  expect((await ask("messages", histories.messages([id]))).status).toBe(200);
  expect(JSON.stringify(body())).toContain('"thoughtSignature":"signed"');
  expect(JSON.stringify(body())).not.toContain(id);
});
