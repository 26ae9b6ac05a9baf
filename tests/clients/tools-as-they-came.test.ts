import { expect, test } from "vitest";
import { openAiClient } from "./openai-client.ts";
import { startUpstream } from "../../apps/router/src/testing/upstreams.ts";

const greeting = [{ role: "user" as const, content: "hi" }];

const broken = '{"city": "Par';
const brokenCall = { type: "tool-call", toolCallId: "1", toolName: "f", input: broken };

test.each([false, true])(
  "arguments that are no JSON come as the model wrote them (stream: %s)",
  async (stream) => {
    const finish = {
      finishReason: { unified: "tool-calls" },
      usage: { inputTokens: {}, outputTokens: {} },
    };
    const events = [brokenCall, { type: "finish", ...finish }].map(
      (part) => `data: ${JSON.stringify(part)}\n\n`,
    );
    const { client } = await openAiClient({
      reply: () =>
        stream
          ? new Response(events.join(""), { headers: { "content-type": "text/event-stream" } })
          : Response.json({ content: [brokenCall], ...finish, warnings: [] }),
    });
    const tools = [{ type: "function" as const, function: { name: "f" } }];
    const body = { model: "nano", messages: greeting, tools };
    const streamed = stream ? client.chat.completions.stream(body).finalChatCompletion() : null;
    const { choices } = (await streamed) ?? (await client.chat.completions.create(body));
    expect(choices[0]?.finish_reason).toBe("tool_calls");
    expect(choices[0]?.message.tool_calls?.[0]).toMatchObject({
      id: "1",
      function: { arguments: broken },
    });
  },
);

test("a server that speaks OpenAI's API gets the request as it came, with its own model", async () => {
  const bodies: unknown[] = [];
  const server = await startUpstream((request, response) => {
    let text = "";
    request.on("data", (chunk) => (text += String(chunk)));
    request.on("end", () => {
      bodies.push(JSON.parse(text));
      const choices = [{ index: 0, message: { content: "Hello" }, finish_reason: "stop" }];
      response.setHeader("content-type", "application/json").end(JSON.stringify({ choices }));
    });
  });
  const { client } = await openAiClient(
    {},
    {
      ROUTER_REPLY_BASE_URL: server,
      ROUTER_MODEL_NANO: "tiny",
      ROUTER_MODEL_FAST: "small",
      ROUTER_MODEL_BALANCED: "middle",
      ROUTER_MODEL_FRONTIER: "large",
    },
    { ownServices: true },
  );
  const call = { id: "1", type: "function" as const, function: { name: "f", arguments: broken } };
  const body = {
    messages: [
      {
        role: "user" as const,
        content: [
          {
            type: "image_url" as const,
            image_url: { url: "https://example.com/a.png", detail: "low" as const },
          },
        ],
      },
      { role: "assistant" as const, tool_calls: [call] },
      { role: "tool" as const, tool_call_id: "1", content: "no" },
    ],
    store: true,
    max_completion_tokens: 9,
    tools: [{ type: "function" as const, function: { name: "f", strict: true } }],
  };
  const { response } = await client.chat.completions
    .create({ ...body, model: "fast" })
    .withResponse();
  expect(bodies).toEqual([{ ...body, model: "small" }]);
  expect(response.headers.has("x-router-ignored")).toBe(false);
  await client.chat.completions.create({ ...body, model: "anything" });
  expect(bodies[1]).toMatchObject({ model: "anything" });
});
