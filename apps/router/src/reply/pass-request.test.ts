import { expect, test } from "vitest";
import { readOpenAiUsage } from "../apis/openai-form.ts";
import { HttpError } from "../http-error.ts";
import { plantedKey } from "../testing/keep-output.ts";
import { callFor, gatewayTarget, targetAt } from "../testing/reply-calls.ts";
import { replyStream } from "../testing/reply-stream.ts";
import { startUpstream } from "../testing/upstreams.ts";
import type { PassedRequest } from "./ask-model.ts";
import { connectUpstream, type Upstream } from "./upstream.ts";
import { noUsage, type TokenUsage } from "./usage.ts";

/** Reads the usage of a form of this test. */
function usageOf(event: unknown): TokenUsage | null {
  const { usage } = event as { usage?: Partial<TokenUsage> };
  return usage === undefined ? null : { ...noUsage, ...usage };
}

function passedTo(
  upstreamType: PassedRequest["upstreamType"],
  unsupported: PassedRequest["unsupported"] = null,
): PassedRequest {
  const json = '{"model":"auto","n":1,"extra":{"a":[null]}}';
  return { upstreamType, usageOf, unsupported, ...bodyOf(json) };
}

function bodyOf(json: string): Pick<PassedRequest, "json" | "body"> {
  return { json, body: JSON.parse(json) as PassedRequest["body"] };
}

/** Returns the options of an upstream with the given answer. */
function answering(fetch: typeof globalThis.fetch) {
  const address = { baseUrl: "http://local.invalid/v1", apiKey: plantedKey };
  return { type: "openai-chat", name: "local", ...address, fetch } as const;
}

const passed = passedTo("openai-chat");
const chatUsageOf = (event: unknown) => readOpenAiUsage((event as { usage?: unknown }).usage);
const streamed = (body: object) => {
  const json = JSON.stringify({ stream: true, ...body });
  return { ...passed, usageOf: chatUsageOf, ...bodyOf(json) };
};
const chatWith = (fetch: typeof globalThis.fetch) => targetAt(connectUpstream(answering(fetch)));

function streamOf(...chunks: string[]) {
  const body = ReadableStream.from(chunks.map((chunk) => Buffer.from(chunk)));
  return async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
}

const upstreams: [
  type: PassedRequest["upstreamType"],
  (origin: string) => Upstream,
  path: string,
  key: object,
][] = [
  [
    "openai-chat",
    (origin) =>
      connectUpstream({
        type: "openai-chat",
        name: "a",
        baseUrl: `${origin}/v1`,
        apiKey: "own-key",
      }),
    "/v1/chat/completions",
    { authorization: "Bearer own-key" },
  ],
  [
    "openai-responses",
    (origin) =>
      connectUpstream({
        type: "openai-responses",
        name: "a",
        baseUrl: `${origin}/v1`,
        apiKey: "own-key",
      }),
    "/v1/responses",
    { authorization: "Bearer own-key" },
  ],
  [
    "anthropic",
    (origin) =>
      connectUpstream({ type: "anthropic", name: "a", baseUrl: origin, apiKey: "own-key" }),
    "/v1/messages",
    { "x-api-key": "own-key", "anthropic-version": "2023-06-01" },
  ],
];

test.each(upstreams)(
  "%s gets the body with another model and its own key",
  async (type, open, path, key) => {
    const seen: unknown[] = [];
    const origin = await startUpstream((request, response) => {
      seen.push(request.url, request.headers);
      request.setEncoding("utf8").on("data", (text: string) => seen.push(text));
      request.on("end", () => response.end("data: é\r\n\r\n"));
    });
    const headers = { "anthropic-beta": "b", authorization: "of the client" };
    const { reply, bytes } = callFor([targetAt(open(origin), "own-model")], {
      passed: { ...passedTo(type), headers },
      headers: { "x-request-id": "r" },
    });
    expect((await reply).replyError).toBeNull();
    expect(bytes.join("")).toBe("data: é\r\n\r\n");
    expect(seen).toEqual([
      path,
      expect.objectContaining({ "anthropic-beta": "b", "x-request-id": "r", ...key }),
      '{"model":"own-model","n":1,"extra":{"a":[null]}}',
    ]);
  },
);

/** Returns the text that a service gets. */
async function sentFor(json: string, differences: Partial<PassedRequest> = {}): Promise<unknown> {
  const sent: unknown[] = [];
  const target = chatWith(async (_input, init) => {
    sent.push(init?.body);
    return streamOf("data: [DONE]\n\n")();
  });
  await callFor([target], { passed: { ...passed, ...bodyOf(json), ...differences } }).reply;
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
  ['{"model":{"a":["x"]},"model":"auto"}', '{"model":"a/b","model":"a/b"}'],
  ['{"model":"auto","":"model","__proto__":1}', '{"model":"a/b","":"model","__proto__":1}'],
])("of %j only the model is replaced", async (json, wanted) => {
  expect(await sentFor(json)).toBe(wanted);
  expect(await sentFor(json.replaceAll("auto", "$&\\n"))).toBe(wanted);
});

test.each([
  [
    '{"model":"auto","stream":true}',
    '{"stream_options":{"include_usage":true},"model":"a/b","stream":true}',
  ],
  [
    '{"stream":true, "stream_options" : {"a":1,"include_usage":false} ,"model":"auto"}',
    '{"stream":true, "stream_options" : {"a":1,"include_usage":true} ,"model":"a/b"}',
  ],
  [
    '{"model":"auto","stream":true,"stream_options":null}',
    '{"model":"a/b","stream":true,"stream_options":{"include_usage":true}}',
  ],
  [
    '{"model":"auto","stream":true,"stream_options":{"include_usage": true}}',
    '{"model":"a/b","stream":true,"stream_options":{"include_usage": true}}',
  ],
])("for %s, tokens are asked for", async (json, wanted) => {
  expect(await sentFor(json)).toBe(wanted);
});

test.each([
  ["16 MB of escapes", `"${String.raw`\n`.repeat(8 * 1024 * 1024)}"`],
  ["16 MB of backslashes", `"${String.raw`\\`.repeat(8 * 1024 * 1024)}"`],
  ["100,000 brackets", "[".repeat(100_000) + "]".repeat(100_000)],
])("%s pass unchanged", async (_, value) => {
  const sent = await sentFor(`{"a":${value},"model":"auto"}`);
  expect(sent === `{"a":${value},"model":"a/b"}`).toBe(true);
});

const ends: [situation: string, chunks: string[], counts: object][] = [
  ["one event", ['data: {"usage":{"input":5,"output":7}}\n\n'], { input: 5, output: 7 }],
  [
    "two events, of which the later replaces the earlier",
    [
      'event: a\ndata: {"usage":{"input":5,"output":1}}\n\n',
      'data: {"usage": {"output":7}}\r\n\r\ndata: {"usage":null}\n\n',
    ],
    { input: 5, output: 7 },
  ],
  [
    "named events in one chunk",
    [
      'event: a\ndata: {"usage":{"input":5}}\n\nevent: b\ndata: {"usage":{"output":7}}\n\nevent: c\ndata: {}\n\n',
    ],
    { input: 5, output: 7 },
  ],
  ["an event without a blank line", ['data: {"usage":{"input":5}}'], { input: 5 }],
  [
    "an event in three chunks",
    ['data: {"us', 'age":{"input":5,"out', 'put":7}}\n\ndata: [DONE]\n\n'],
    { input: 5, output: 7 },
  ],
];

test.each(ends)("the usage in %s is read", async (_situation, chunks, counts) => {
  const { reply, bytes } = callFor([chatWith(streamOf(...chunks))], { passed });
  const usage = { ...noUsage, ...counts };
  expect(await reply).toMatchObject({ end: { usage }, billed: { usage, isEstimate: false } });
  expect(bytes).toEqual(chunks);
});

test("the usage in a body of JSON is read", async () => {
  const body = '{\n  "usage": { "input": 5, "output": 7 }\n}';
  const headers = { "content-type": "application/json; charset=utf-8" };
  const { reply, bytes } = callFor([chatWith(async () => new Response(body, { headers }))], {
    passed,
  });
  expect((await reply).billed?.usage).toEqual({ ...noUsage, input: 5, output: 7 });
  expect(bytes).toEqual([body]);
});

test("tokens that a client does not ask for are asked for, and left out of its reply", async () => {
  const text = 'data: {"choices":[{"delta":{"content":"é"}}],"usage":null}\n\n';
  const counted = '{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}';
  const chunks = [text.slice(0, 20), `${text.slice(20)}data: ${counted.slice(0, 30)}`];
  const stream = streamOf(...chunks, `${counted.slice(30)}\n\ndata: [DONE]\n\n`);
  const sent: unknown[] = [];
  const target = chatWith(async (_input, init) => {
    sent.push(JSON.parse(init?.body as string));
    return stream();
  });
  const request = streamed({ model: "auto", stream_options: { other: 1 } });
  const { reply, bytes } = callFor([target], { passed: request });
  const usage = { input: 5, output: 7 };
  expect((await reply).billed).toMatchObject({ usage, isEstimate: false });
  expect(bytes.join("")).toBe(`${text}data: [DONE]\n\n`);
  const stream_options = { other: 1, include_usage: true };
  expect(sent).toEqual([{ model: "a/b", stream: true, stream_options }]);
});

test("an event with usage beside text is passed on to a client that asks for none", async () => {
  const alone = 'data: {"usage":{"prompt_tokens":5}}\n\n';
  const last = 'data: {"choices":[{"delta":{}}],"usage":{"completion_tokens":7}}\n\n';
  const target = chatWith(streamOf(alone + last));
  const { reply, bytes } = callFor([target], { passed: streamed({}) });
  expect((await reply).billed?.usage).toMatchObject({ input: 5, output: 7 });
  expect(bytes).toEqual([last]);
});

test("an event with usage is passed on to a client that asks for it", async () => {
  const event = 'data: {"choices":[],"usage":{"prompt_tokens":5}}\n\n';
  const request = streamed({ stream_options: { include_usage: true } });
  const { reply, bytes } = callFor([chatWith(streamOf(event))], { passed: request });
  expect((await reply).billed?.usage.input).toBe(5);
  expect(bytes).toEqual([event]);
});

test("without usage, each event counts as a token", async () => {
  const { reply } = callFor([chatWith(streamOf("data: {}\n\ndata: {}\n\n", "data: {}\n\n"))], {
    passed,
  });
  expect((await reply).billed).toEqual({
    usage: { ...noUsage, input: 2, output: 3 },
    isEstimate: true,
  });
});

test("without usage, a body of JSON is estimated by its length", async () => {
  const fetch = async () => Response.json({ text: "a".repeat(400) });
  const { reply } = callFor([chatWith(fetch)], { passed });
  const { billed } = await reply;
  expect(billed).toMatchObject({ isEstimate: true, usage: { output: 103 } });
});

test("a secret that is cut across chunks is replaced", async () => {
  const chunks = [`data: "${plantedKey.slice(0, 9)}`, `${plantedKey.slice(9)}"\n\n`];
  const { reply, bytes } = callFor([chatWith(streamOf(...chunks))], { passed });
  await reply;
  expect(bytes).toEqual(['data: "', '[secret]"\n\n']);
});

test("an error of the upstream is a failure, and none of it is passed on", async () => {
  const error = { message: "Too long.", code: "context_length_exceeded" };
  const rejects = async () => Response.json({ error }, { status: 400 });
  const { reply, bytes } = callFor([chatWith(rejects)], { passed });
  expect(await reply).toMatchObject({
    replyError: "Too long.",
    httpError: { status: 400, code: "context_length_exceeded" },
    billed: null,
  });
  expect(bytes).toEqual([]);
});

const failures: [situation: string, fetch: typeof globalThis.fetch, replyError: string][] = [
  [
    "a rejected key",
    async () => Response.json({}, { status: 401 }),
    "The upstream local refused the key; check LOCAL_KEY.",
  ],
  [
    "no connection",
    async () => Promise.reject(new TypeError("fetch failed", { cause: new Error("refused") })),
    "Cannot connect to API: refused. Check the address of the upstream local.",
  ],
  [
    "a redirect",
    async () => new Response(null, { status: 307, statusText: "Temporary Redirect" }),
    "Temporary Redirect",
  ],
];

test.each(failures)("%s is explained", async (_situation, fetch, replyError) => {
  const upstream = connectUpstream({ ...answering(fetch), keyVariable: "LOCAL_KEY" });
  expect((await callFor([targetAt(upstream)], { passed }).reply).replyError).toBe(replyError);
});

test("a target with another API gets the conversation", async () => {
  const fails = chatWith(async () => new Response("", { status: 500 }));
  const { reply, bytes, pieces } = callFor(
    [fails, gatewayTarget(async () => replyStream(["fine"]))],
    { passed },
  );
  expect((await reply).replyError).toBeNull();
  expect([bytes, pieces.length]).toEqual([[], 1]);
});

test("a request that only its own API can hold is refused elsewhere", async () => {
  const unsupported = new HttpError(400, "n: use 1", { param: "n" });
  const works = async () => replyStream(["fine"]);
  const request = passedTo("openai-chat", unsupported);
  expect(await callFor([gatewayTarget(works)], { passed: request }).reply).toMatchObject({
    replyError: "n: use 1",
    httpError: { status: 400 },
    end: null,
    billed: null,
  });
  const { reply } = callFor([chatWith(streamOf("data: {}\n\n"))], { passed: request });
  expect((await reply).replyError).toBeNull();
});

test("a line of more than 16 MiB ends the reply", async () => {
  const chunk = "a".repeat(1024 * 1024);
  const { reply } = callFor([chatWith(streamOf(...Array<string>(17).fill(chunk)))], { passed });
  expect((await reply).replyError).toMatch(/16 MiB/);
});
