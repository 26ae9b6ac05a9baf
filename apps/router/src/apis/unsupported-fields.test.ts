import { expect, test } from "vitest";
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
