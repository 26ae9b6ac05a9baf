import { expect, test } from "vitest";
import { oneUpstream } from "../testing/one-upstream.ts";
import { testRouter } from "../testing/test-router.ts";

test.each([
  ["/v1/chat/completions", { messages: [{ role: "user", content: "hi" }], n: 2 }, "n"],
  ["/v1/responses", { input: "hi", top_logprobs: 3 }, "top_logprobs"],
  [
    "/v1/messages",
    {
      max_tokens: 9,
      messages: [{ role: "user", content: "hi" }],
      tools: [{ type: "web_search_20250305", name: "web_search" }],
    },
    "tools.0",
  ],
])(
  "%s refuses a field that no service takes before it asks for a decision",
  async (path, body, field) => {
    const { request, seen } = await testRouter();
    const answer = await request(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "auto", ...body }),
    });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain(`cannot do this: ${field}`);
    expect(seen).toEqual([]);
  },
);

test.each([
  ["openai-chat", "chat", { n: 2 }, "n"],
  ["openai-chat", "chat", { temperature: "hot", made_up: 1 }, "temperature, made_up"],
  [
    "openai-responses",
    "responses",
    { prompt: { id: "pmpt_1" }, top_logprobs: 3 },
    "prompt, top_logprobs",
  ],
] as const)(
  "%s: a key with tiers passes no unread field: %j",
  async (type, api, fields, ignored) => {
    const { ask, body } = await oneUpstream(type, { key: { tiers: ["nano"] } });
    const part = { type: "made_up", text: "all of it" };
    const said = [{ role: "user", content: [{ type: "input_text", text: "hi" }, part] }];
    const history = api === "chat" ? { messages: said } : { input: said };
    const response = await ask(api, { ...fields, ...history });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-router-ignored")).toBe(ignored);
    expect(Object.keys(body()).filter((name) => name in fields)).toEqual([]);
    expect(body()).toMatchObject(history);
    const free = await oneUpstream(type);
    const passed = await free.ask(api, { ...fields, ...history });
    expect(passed.headers.get("x-router-ignored")).toBeNull();
    expect(free.body()).toMatchObject({ ...fields, ...history });
  },
);

test.each([
  ["messages[0].content", "messages[0].content"],
  ["a\nb", null],
  [5, null],
])("a service's refusal keeps the name %j of its field: %j", async (param, expected) => {
  const error = { message: "It is wrong.", type: "invalid_request_error", param };
  const answer = () => Response.json({ error }, { status: 400 });
  for (const api of ["chat", "messages"] as const) {
    const { ask } = await oneUpstream("openai-chat", { answer });
    const response = await ask(api, {});
    expect(response.status).toBe(400);
    const { error: given } = (await response.json()) as { error: { param?: string | null } };
    expect(given.param ?? null).toBe(api === "chat" ? expected : null); // Anthropic's form has none
  }
});
