import { expect, test } from "vitest";
import { oneUpstream } from "../testing/one-upstream.ts";

type Upstream = Parameters<typeof oneUpstream>[0];
type Api = "chat" | "responses" | "messages";
const format = { type: "json_object" };
const schema = { type: "object", properties: {}, additionalProperties: false };

const sampling = { seed: 1, top_k: 5, presence_penalty: 0.5, frequency_penalty: 0.5 };

test.each<[Api, Upstream, object, string]>([
  ["chat", "openai-responses", sampling, "top_k, seed, presence_penalty, frequency_penalty"],
  ["chat", "anthropic", { ...sampling, top_k: 5 }, "frequency_penalty, presence_penalty, seed"],
  ["messages", "openai-chat", { top_k: 5 }, "top_k"],
  ["messages", "openai-responses", { top_k: 5 }, "top_k"],
  ["chat", "anthropic", { temperature: 0.5, reasoning_effort: "high" }, "temperature"],
])("%s to %s: %j has no effect and is listed: %s", async (api, type, fields, listed) => {
  const { ask } = await oneUpstream(type);
  const whole = await ask(api, fields);
  expect(whole.status).toBe(200);
  expect(whole.headers.get("x-router-ignored")).toBe(listed);
});

test.each([true, false])("warnings of the gateway are listed (stream: %j)", async (stream) => {
  const warnings = [
    { type: "unsupported", feature: "stopSequences" },
    { type: "unsupported", feature: "seed" },
    { type: "unsupported", feature: "__proto__" },
    { type: "other", message: "x" },
  ];
  const usage = { inputTokens: { total: 5 }, outputTokens: { total: 7 } };
  const end = { finishReason: { unified: "stop" }, usage };
  const events = [
    { type: "stream-start", warnings },
    { type: "text-delta", id: "0", delta: "ok" },
    { type: "finish", ...end },
  ].map((event) => `data: ${JSON.stringify(event)}\n\n`);
  const answer = () =>
    stream
      ? new Response(events.join(""), { headers: { "content-type": "text/event-stream" } })
      : Response.json({ content: [{ type: "text", text: "ok" }], ...end, warnings });
  const { ask } = await oneUpstream("gateway", { answer });
  const response = await ask("chat", { model: "acme/x", stop: "END", stream, made_up: 1 });
  expect(response.status).toBe(200);
  expect(response.headers.get("x-router-ignored")).toBe("made_up, stop");
  expect(await response.text()).toContain("ok");
});

test.each<[Api, Upstream, object, string]>([
  ["chat", "openai-responses", { stop: "END" }, "stop"],
  ["messages", "openai-responses", { stop_sequences: ["END"] }, "stop_sequences"],
  ["chat", "anthropic", { response_format: format }, "response_format"],
  ["responses", "anthropic", { text: { format } }, "text.format"],
])("%s to %s: %j would change the reply and is refused: %s", async (api, type, fields, field) => {
  const { ask, sent } = await oneUpstream(type);
  const response = await ask(api, fields);
  expect(response.status).toBe(400);
  expect(await response.text()).toContain(`The upstream u cannot do this: ${field}: `);
  expect(sent).toEqual([]);
});

test.each<[string, object, string | null]>([
  ["openai/gpt-x", { stop: "END" }, "stop"],
  ["openai/gpt-x", { response_format: format }, null],
  ["openai/gpt-oss-x", { stop: "END" }, null],
  ["anthropic/claude-x", { response_format: format }, "response_format"],
  ["anthropic/claude-x", { stop: "END" }, null],
  ["acme/x", { stop: "END", response_format: format }, null],
])("the gateway's model %s with %j is refused: %s", async (model, fields, field) => {
  const { ask, sent } = await oneUpstream("gateway");
  const response = await ask("chat", { model, ...fields });
  expect([response.status, sent.length]).toEqual(field === null ? [200, 1] : [400, 0]);
  const { error } = (await response.json()) as { error?: { param: string } };
  expect(error?.param ?? null).toBe(field);
});

test.each<[Api, Upstream, object]>([
  ["chat", "openai-chat", { stop: "END", response_format: format, ...sampling }],
  [
    "chat",
    "anthropic",
    { stop: ["END"], response_format: { type: "json_schema", json_schema: { name: "a", schema } } },
  ],
  ["chat", "openai-responses", { stop: [], response_format: format }],
  ["responses", "openai-responses", { text: { format } }],
  ["messages", "anthropic", { stop_sequences: ["END"], top_k: 5 }],
  ["messages", "openai-chat", { stop_sequences: ["END"], temperature: 0 }],
])("%s to %s: %j has its effect", async (api, type, fields) => {
  const { ask } = await oneUpstream(type);
  const response = await ask(api, fields);
  expect(response.status).toBe(200);
  expect(response.headers.get("x-router-ignored")).toBeNull();
});
