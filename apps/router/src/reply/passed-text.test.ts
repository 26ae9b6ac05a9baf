import { expect, test } from "vitest";
import { blocksOf, callFor, targetAt } from "../testing/reply-calls.ts";
import { connectUpstream } from "./upstream.ts";
import { noUsage } from "./usage.ts";

const end = 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n';
const asStream = '{"stream":true,"stream_options":{"include_usage":true}}';

/** Passes a request on to a service with an answer; returns the texts that it got, the reply and its parts. */
async function passOn(json: string, answer = new Response(end)) {
  const sent: unknown[] = [];
  const fetch: typeof globalThis.fetch = async (_input, init) => {
    sent.push(init?.body);
    return answer;
  };
  const service = { type: "openai-chat", name: "a", baseUrl: "http://a.invalid/v1" } as const;
  const target = targetAt(connectUpstream({ ...service, apiKey: null, fetch }));
  const body = JSON.parse(json) as Record<string, unknown>;
  const request = { upstreamType: service.type, json, body, unsupported: null };
  const { reply, ...parts } = callFor([target], { passed: request });
  return { sent, reply: await reply, ...parts };
}

/** Returns the text that a service gets for the model `a/b`. */
async function sentFor(json: string): Promise<unknown> {
  const { sent } = await passOn(json);
  expect(sent).toHaveLength(1);
  return sent[0];
}

const own = ' {\n  "seed" : 12345678901234567890, "temperature": 1.0, "top_p": 1e3,';
const nested = '"tools":[{"model":"x","a":"}],\\"model\\":\\"y\\\\"}], "user": "é\\u00e9"';

test.each([
  [`${own} "model" :\t"auto"\n, ${nested}\n}\n`, `${own} "model" :\t"a/b"\n, ${nested}\n}\n`],
  [`{${nested},"model":"auto"}`, `{${nested},"model":"a/b"}`],
  ['{"model":"big","n":1,"n":2,"model":"auto"}', '{"model":"a/b","n":1,"n":2,"model":"a/b"}'],
  ['{"model":"auto","mod\\u0065l":"auto"}', '{"model":"a/b","mod\\u0065l":"a/b"}'],
  ['{"model":"auto","MODEL":"big"}', '{"model":"a/b","MODEL":"a/b"}'],
  ['{"model":{"model":["x"]},"model":[{}]}', '{"model":"a/b","model":"a/b"}'],
  ['{"model":null,"":"model","__proto__":1}', '{"model":"a/b","":"model","__proto__":1}'],
  ['{"model":"\\\\\\"","a":"model\\\\"}', '{"model":"a/b","a":"model\\\\"}'],
])("of %s only the model is replaced", async (json, wanted) => {
  expect(await sentFor(json)).toBe(wanted);
});

test.each([
  ["16 MB of escapes", `"${String.raw`\n`.repeat(8 * 1024 * 1024)}"`],
  ["16 MB of lists", `[${"[],".repeat(5 * 1024 * 1024)}0]`],
  ["16 MB of backslashes", `"${String.raw`\\`.repeat(8 * 1024 * 1024)}"`],
  ["100,000 levels of lists", "[".repeat(100_000) + "]".repeat(100_000)],
])("%s pass unchanged", async (_, value) => {
  const sent = await sentFor(`{"a":${value},"model":"auto"}`);
  expect(sent === `{"a":${value},"model":"a/b"}`).toBe(true);
});

const long = "a".repeat(400);

test.each([
  [{ choices: [{ delta: { content: 'a "word" and more' } }] }, 6],
  [{ choices: [{ delta: { reasoning_content: long, content: "" } }] }, 101],
  [{ choices: [{ delta: { tool_calls: [1, 2].map(() => ({ arguments: long })) } }] }, 204],
  [{ type: "content_block_delta", delta: { type: "text_delta", text: long } }, 101],
  [{ type: "content_block_delta", delta: { type: "signature_delta", signature: long } }, 1],
  [{ type: "response.output_text.delta", item_id: long, delta: "a".repeat(40) }, 9],
  [{}, 1],
])(
  "without a report, the tokens of %j are those of its text, at least one",
  async (event, output) => {
    const { reply } = await passOn(
      asStream,
      new Response(`data: ${JSON.stringify(event)}\n\n${end}`),
    );
    expect(reply.billedTokens).toMatchObject({ isEstimate: true, usage: { output: output + 1 } });
  },
);

test.each<[string, object]>([
  ['{"model":"auto","web_search_options":{}}', { searches: 1, isOwnSearch: true }],
  ['{"model":"auto","tools":[{"type":"web_search_preview"}]}', { isOwnSearch: true }],
  ['{"model":"auto","tools":[{"type":"web_search"}]}', {}],
])("the price of searches that %s asks for is not the usual one", async (json, more) => {
  const usage = { prompt_tokens: 9, completion_tokens: 1 };
  const { reply } = await passOn(json, Response.json({ choices: [{}], usage }));
  const expected = { ...noUsage, input: 9, output: 1, ...more };
  expect(reply.billedTokens).toEqual({ usage: expected, isEstimate: false });
});

test.each([
  ["gpt-4o-search-preview", { searches: 1, isOwnSearch: true }],
  ["gpt-4o", {}],
])("a translated call of %s counts the search that its model makes", async (model, more) => {
  const usage = { prompt_tokens: 9, completion_tokens: 1 };
  const last = `data: ${JSON.stringify({ choices: [], usage })}\n\n`;
  const fetch = async () =>
    new Response(end + last, { headers: { "content-type": "text/event-stream" } });
  const service = { type: "openai-chat", name: "a", baseUrl: "http://a.invalid/v1" } as const;
  const target = targetAt(connectUpstream({ ...service, apiKey: null, fetch }), model);
  const { billedTokens: billed } = await callFor([target]).reply;
  const { searches, isOwnSearch } = billed?.usage ?? {};
  expect({ searches, isOwnSearch }).toEqual({
    searches: undefined,
    isOwnSearch: undefined,
    ...more,
  });
});

test("an event of 15 MB passes, and its text counts", async () => {
  for (const [text, output] of [
    [long.repeat(39_000), 1_900_000],
    [String.raw`a\n`.repeat(5_000_000), 7499],
  ] as const) {
    const { reply } = await passOn(asStream, new Response(`${end}data: {"delta":"${text}"}\n\n`));
    expect(reply.replyError).toBeNull();
    expect(reply.billedTokens?.usage.output).toBeGreaterThanOrEqual(output);
  }
});

test.each(["\n", "\r\n", "\r"])(
  "if a reply breaks off, only whole events pass: lines end with %j",
  async (eol) => {
    const word = '{"choices":[{"delta":{"content":"a"}}]}';
    const [note, first, second, third] = [": x", `data: ${word}`, "data: b", "data: c"].map(
      (line) => line + eol + eol,
    );
    const all = `${note}${first}${second}${third}data: d`;
    const whole = `${note}${first}`;
    const cuts = [whole.length + 3, whole.length + 7 + eol.length, all.length - 1];
    async function* chunks() {
      for (const [at, cut] of cuts.entries()) yield Buffer.from(all.slice(cuts[at - 1] ?? 0, cut));
      throw new TypeError("terminated");
    }
    const { reply, bytes } = await passOn(asStream, new Response(ReadableStream.from(chunks())));
    expect(reply.replyError).toMatch(/broke off/);
    expect(bytes).toEqual([whole, `${second}${third}`]);
  },
);

test("a whole reply to a client that streams becomes pieces", async () => {
  const message = { role: "assistant", content: "Hello", reasoning_content: "Well" };
  const usage = { prompt_tokens: 5, completion_tokens: 7 };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  const passed = await passOn('{"stream":true}', Response.json({ choices, usage }));
  expect(passed.reply).toMatchObject({
    end: { finishReason: "stop" },
    billedTokens: { usage: { input: 5, output: 7 }, isEstimate: false },
  });
  expect(blocksOf(passed.pieces)).toEqual(["Well", "Hello"]);
  expect(passed.bytes).toEqual([]);
});

test("an error in JSON with the status 200 fails a reply to a client that streams", async () => {
  const answer = Response.json({ error: { message: "No." } });
  const { reply, pieces } = await passOn('{"stream":true}', answer);
  expect(reply).toMatchObject({ end: null, replyError: expect.any(String) });
  expect(pieces).toEqual([]);
});

test("tokens that a service reports before its error are paid for", async () => {
  const usage = { prompt_tokens: 50, completion_tokens: 0 };
  const error = { message: "Overloaded", type: "overloaded_error" };
  const events = [{ choices: [], usage }, { error }];
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const { reply } = await passOn(asStream, new Response(text));
  expect(reply.httpError?.status).toBe(529);
  expect(reply.billedTokens?.usage).toMatchObject({ input: 50 });
});
