import { expect, test } from "vitest";
import { oneUpstream } from "../testing/one-upstream.ts";

const own = "http://192.168.1.5/cam.jpg";
const elsewhere = "http://example.com/a.png";
const said = (api: string, part: object) => {
  const history = [{ role: "user", content: [{ type: "text", text: "what" }, part] }];
  return api === "responses" ? { input: history } : { messages: history };
};

/** Parts that only services of their API take. */
const parts = [
  ["chat", { type: "image_url", image_url: { url: elsewhere } }],
  ["chat", { type: "image_url", image_url: elsewhere }],
  ["chat", { type: "input_audio", input_audio: { data: "AAAA", format: "ogg" } }],
  ["chat", { type: "file", file: { file_id: "file-1" } }],
  ["chat", { type: "file", file: { filename: "a.docx", file_data: "UEsDBBQAAAA=" } }],
  ["responses", { type: "input_image", file_id: "file-1" }],
  ["responses", { type: "input_image", image_url: elsewhere }],
  ["responses", { type: "input_file", file_id: "file-1" }],
  ["messages", { type: "image", source: { type: "url", url: elsewhere } }],
  ["messages", { type: "document", source: { type: "file", file_id: "file-1" } }],
] as const;

const typeOf = {
  chat: "openai-chat",
  responses: "openai-responses",
  messages: "anthropic",
} as const;

test.each(parts)("%s: %j passes to a service of the API, unchanged", async (api, part) => {
  const { ask, body } = await oneUpstream(typeOf[api]);
  const request = said(api, part);
  expect((await ask(api, request)).status).toBe(200);
  expect(body()).toMatchObject(request);
});

test.each(parts)("%s: %j is refused elsewhere with the service's name", async (api, part) => {
  const { ask, sent } = await oneUpstream("gateway");
  const response = await ask(api, said(api, part));
  expect(response.status).toBe(400);
  expect(await response.text()).toMatch(/The upstream u cannot do this: (?:messages|input)\.0\./);
  expect(sent).toEqual([]);
});

const cache_control = { type: "ephemeral", ttl: "30m", scope: "global" };
const marked = { type: "text", text: "hi", cache_control };
const tool = { type: "function", function: { name: "f", parameters: {} }, cache_control };
const fields = [
  ["responses", { input: undefined, prompt: { id: "pmpt_1" } }, "prompt"],
  ["messages", { max_tokens: 0 }, "max_tokens"],
  ["messages", { system: [marked] }, null],
  ["chat", { messages: [{ role: "user", content: [marked], cache_control }], tools: [tool] }, null],
] as const;

test.each(fields)("%s: %j is a service's own if no other API has it", async (api, given, field) => {
  const { ask, body } = await oneUpstream(typeOf[api]);
  expect((await ask(api, given)).status).toBe(200);
  expect(body()).toMatchObject(JSON.parse(JSON.stringify(given)) as object);
  const other = await oneUpstream("gateway");
  const response = await other.ask(api, given);
  expect(response.status).toBe(field === null ? 200 : 400);
  expect(await response.text()).toContain(field === null ? "ok" : `cannot do this: ${field}: `);
  expect(other.sent).toHaveLength(field === null ? 1 : 0);
});

test("a reply that only warms the cache has no content", async () => {
  const usage = { input_tokens: 0, cache_creation_input_tokens: 9, output_tokens: 0 };
  const head = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [] };
  const whole = { ...head, stop_reason: "max_tokens", usage };
  const events = [
    { type: "message_start", message: { ...head, stop_reason: null, usage } },
    { type: "message_delta", delta: { stop_reason: "max_tokens" }, usage: { output_tokens: 0 } },
    { type: "message_stop" },
  ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  const answers = [Response.json(whole), new Response(events.join(""), { headers: asStream })];
  const { ask, records } = await oneUpstream("anthropic", {
    answer: () => answers.shift() ?? Response.error(),
  });
  expect(await (await ask("messages", { max_tokens: 0 })).json()).toEqual(whole);
  const streamed = await ask("messages", { max_tokens: 0, stream: true });
  expect(await streamed.text()).toBe(events.join(""));
  expect(records).toMatchObject([
    { outcome: "replied", cacheWriteTokens: 9 },
    { outcome: "replied", cacheWriteTokens: 9 },
  ]);
});

const asStream = { "content-type": "text/event-stream" };

const images = [
  ["chat", { type: "image_url", image_url: { url: own } }],
  ["chat", { type: "image_url", image_url: own }],
  ["responses", { type: "input_image", image_url: own }],
  ["messages", { type: "image", source: { type: "url", url: own } }],
] as const;

test.each(images)("%s: %j is for a service on the same network", async (api, part) => {
  const near = await oneUpstream(typeOf[api], { baseUrl: "http://127.0.0.1:8000/v1" });
  expect((await near.ask(api, said(api, part))).status).toBe(200);
  expect(near.body()).toMatchObject(said(api, part));
  const far = await oneUpstream(typeOf[api]);
  const response = await far.ask(api, said(api, part));
  expect(response.status).toBe(400);
  expect(await response.text()).toContain("The upstream u cannot do this");
  expect(far.sent).toEqual([]);
});

test.each(["file:///etc/passwd", "ftp://example.com/a.png", "gopher://a"])(
  "%s is refused for every service",
  async (url) => {
    const { ask, sent } = await oneUpstream("openai-chat", { baseUrl: "http://127.0.0.1/v1" });
    const response = await ask("chat", said("chat", { type: "image_url", image_url: { url } }));
    expect(response.status).toBe(400);
    expect(sent).toEqual([]);
  },
);

test("base64 without data: reaches services of every API with its type", async () => {
  const pdf = { type: "file", file: { filename: "a.pdf", file_data: "JVBERi0=" } };
  const png = { type: "image_url", image_url: { url: "iVBORw0KGgo=" } };
  const { ask, body } = await oneUpstream("anthropic");
  expect((await ask("chat", said("chat", pdf))).status).toBe(200);
  expect(JSON.stringify(body())).toContain('"media_type":"application/pdf","data":"JVBERi0="');
  expect((await ask("chat", said("chat", png))).status).toBe(200);
  expect(JSON.stringify(body())).toContain('"media_type":"image/png","data":"iVBORw0KGgo="');
});
