import { expect, test } from "vitest";
import { HttpError } from "../http-error.ts";
import { plantedKey } from "../testing/keep-output.ts";
import { callFor, gatewayTarget, targetAt } from "../testing/reply-calls.ts";
import { replyStream } from "../testing/reply-stream.ts";
import { startUpstream } from "../testing/upstreams.ts";
import type { PassedRequest } from "./passed-request.ts";
import { connectUpstream } from "./upstream.ts";
import { noUsage } from "./usage.ts";

const streaming = '"stream":true,"stream_options":{"include_usage":true},"extra":{"a":[null]}';

/** The ends of whole streams. */
const ends = {
  "openai-chat": 'data: {"choices":[{"finish_reason":"stop"}]}\n\n',
  "openai-responses": 'data: {"type":"response.completed"}\n\n',
  anthropic: 'data: {"type":"message_stop"}\n\n',
  gateway: "",
};
const end = ends["openai-chat"];
const begun = 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n';

function passedTo(
  upstreamType: PassedRequest["upstreamType"],
  unsupported: PassedRequest["unsupported"] = null,
): PassedRequest {
  const json = `{"model":"auto","n":1,${streaming}}`;
  return { upstreamType, unsupported, ...bodyOf(json) };
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
const streamed = (body: object) => {
  const json = JSON.stringify({ stream: true, ...body });
  return { ...passed, ...bodyOf(json) };
};
const chatWith = (fetch: typeof globalThis.fetch) => targetAt(connectUpstream(answering(fetch)));

function streamOf(...chunks: string[]) {
  const body = ReadableStream.from(chunks.map((chunk) => Buffer.from(chunk)));
  return async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
}

const upstreams: [type: PassedRequest["upstreamType"], base: string, path: string, key: object][] =
  [
    ["openai-chat", "/v1", "/v1/chat/completions", { authorization: "Bearer own-key" }],
    ["openai-responses", "/v1", "/v1/responses", { authorization: "Bearer own-key" }],
    [
      "anthropic",
      "",
      "/v1/messages",
      { "x-api-key": "own-key", "anthropic-version": "2023-06-01" },
    ],
  ];

test.each(upstreams)(
  "%s gets the body with another model and its own key",
  async (type, base, path, key) => {
    const seen: unknown[] = [];
    const origin = await startUpstream((request, response) => {
      seen.push(request.url, request.headers);
      request.setEncoding("utf8").on("data", (text: string) => seen.push(text));
      request.on("end", () => response.end(`data: é\r\n\r\n${ends[type]}`));
    });
    const headers = new Headers({ "anthropic-beta": "b", authorization: "of the client" });
    const upstream = { type, name: "a", baseUrl: origin + base, apiKey: "own-key" };
    const { reply, bytes } = callFor([targetAt(connectUpstream(upstream), "own-model")], {
      passed: { ...passedTo(type), header: (name) => headers.get(name) ?? undefined },
      headers: { "x-request-id": "r" },
    });
    expect((await reply).replyError).toBeNull();
    expect(bytes.join("")).toBe(`data: é\r\n\r\n${ends[type]}`);
    expect(seen).toEqual([
      path,
      expect.objectContaining({ "anthropic-beta": "b", "x-request-id": "r", ...key }),
      `{"model":"own-model","n":1,${streaming}}`,
    ]);
  },
);

const counted: [situation: string, chunks: string[], counts: object][] = [
  [
    "one event",
    ['data: {"usage":{"prompt_tokens":5,"completion_tokens":7}}\n\n'],
    { input: 5, output: 7 },
  ],
  [
    "two events, of which the greater counts",
    [
      'event: a\ndata: {"usage":{"prompt_tokens":5,"completion_tokens":1}}\n\n',
      'data: {"usage": {"completion_tokens":7}}\r\n\r\ndata: {"usage":null}\n\n',
    ],
    { input: 5, output: 7 },
  ],
  [
    "named events in one chunk",
    [
      'event: a\ndata: {"usage":{"prompt_tokens":5}}\n\nevent: b\ndata: {"usage":{"completion_tokens":7}}\n\nevent: c\ndata: {}\n\n',
    ],
    { input: 5, output: 7 },
  ],
  ["an event without a blank line", ['data: {"usage":{"prompt_tokens":5}}'], { input: 5 }],
  [
    "an event in three chunks",
    ['data: {"us', 'age":{"prompt_tokens":5,"completion_', 'tokens":7}}\n\ndata: [DONE]\n\n'],
    { input: 5, output: 7 },
  ],
];

test.each(counted)("the usage in %s is read", async (_situation, given, counts) => {
  const chunks = [end, ...given];
  const { reply, bytes } = callFor([chatWith(streamOf(...chunks))], { passed });
  const usage = { ...noUsage, ...counts };
  expect(await reply).toMatchObject({ end: { usage }, billedTokens: { usage, isEstimate: false } });
  expect(bytes.join("")).toBe(chunks.join(""));
});

test("the usage in a body of JSON is read, and a secret replaced", async () => {
  const body = `{\n  "usage": { "prompt_tokens": 5, "completion_tokens": 7 }, "a": "${plantedKey}", "choices": [{}]\n}`;
  const headers = { "content-type": "application/json; charset=utf-8" };
  const { reply, bytes } = callFor([chatWith(async () => new Response(body, { headers }))], {
    passed: { ...passed, ...bodyOf("{}") },
  });
  expect((await reply).billedTokens?.usage).toEqual({ ...noUsage, input: 5, output: 7 });
  expect(bytes).toEqual([body.replace(plantedKey, "[secret]")]);
});

test.each([
  [{ other: 1 }, '{"other":1,"include_usage":true}'],
  [null, '{"include_usage":true}'],
])("tokens that %j does not ask for are asked for, and left out", async (given, asked) => {
  const text = 'data: {"choices":[{"delta":{"content":"é"}}],"usage":null}\n\n';
  const counted = '{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}';
  const chunks = [text.slice(0, 20), `${text.slice(20)}data: ${counted.slice(0, 30)}`];
  const stream = streamOf(end, ...chunks, `${counted.slice(30)}\n\ndata: [DONE]\n\n`);
  const sent: unknown[] = [];
  const target = chatWith(async (_input, init) => {
    sent.push(init?.body);
    return stream();
  });
  const request = streamed({ stream_options: given });
  const { reply, bytes } = callFor([target], { passed: request });
  const usage = { input: 5, output: 7 };
  expect((await reply).billedTokens).toMatchObject({ usage, isEstimate: false });
  expect(bytes.join("")).toBe(`${end}${text}data: [DONE]\n\n`);
  expect(sent).toEqual([`{"stream":true,"stream_options":${asked}}`]);
});

test("an event with usage beside text is passed on to a client that asks for none", async () => {
  const alone = 'data: {"usage":{"prompt_tokens":5}}\n\n';
  const last = 'data: {"choices":[{"delta":{}}],"usage":{"completion_tokens":7}}\n\n';
  const target = chatWith(streamOf(end + alone + last));
  const { reply, bytes } = callFor([target], { passed: streamed({}) });
  expect((await reply).billedTokens?.usage).toMatchObject({ input: 5, output: 7 });
  expect(bytes).toEqual([end + last]);
});

test("an event with usage is passed on to a client that asks for it", async () => {
  const event = 'data: {"choices":[],"usage":{"prompt_tokens":5}}\n\n';
  const request = streamed({ stream_options: { include_usage: true } });
  const { reply, bytes } = callFor([chatWith(streamOf(end + event))], { passed: request });
  expect((await reply).billedTokens?.usage.input).toBe(5);
  expect(bytes).toEqual([end + event]);
});

test("without usage, each event counts as a token", async () => {
  const { reply } = callFor([chatWith(streamOf(`data: {}\n\n${end}`, "data: {}\n\n"))], {
    passed,
  });
  expect((await reply).billedTokens).toEqual({
    usage: { ...noUsage, input: 5, output: 3 },
    isEstimate: true,
  });
});

test("without usage, a body of JSON is estimated by its text", async () => {
  const fetch = async () => Response.json({ choices: [{}], text: "a".repeat(387) });
  const { reply } = callFor([chatWith(fetch)], { passed: { ...passed, ...bodyOf("{}") } });
  const { billedTokens: billed } = await reply;
  expect(billed).toMatchObject({ isEstimate: true, usage: { output: 107 } });
});

test("a secret that is cut across chunks is replaced", async () => {
  const chunks = [`${end}data: "${plantedKey.slice(0, 9)}`, `${plantedKey.slice(9)}"\n\n`];
  const { reply, bytes } = callFor([chatWith(streamOf(...chunks))], { passed });
  await reply;
  expect(bytes.join("")).toBe(`${end}data: "[secret]"\n\n`);
});

test("an error of the upstream is a failure, and none of it is passed on", async () => {
  const error = { message: "Too long.", code: "context_length_exceeded" };
  const rejects = async () => Response.json({ error }, { status: 400 });
  const { reply, bytes } = callFor([chatWith(rejects)], { passed });
  expect(await reply).toMatchObject({
    replyError: "Too long.",
    httpError: { status: 400, code: "context_length_exceeded" },
    billedTokens: null,
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
    billedTokens: null,
  });
  const { reply } = callFor([chatWith(streamOf(end))], { passed: request });
  expect((await reply).replyError).toBeNull();
});

test("a line or comments of more than 16 MiB without an event end the reply", async () => {
  const text = "a".repeat(1024 * 1024);
  for (const chunks of [text, `: ${text}\n`].map((line) => Array<string>(17).fill(line))) {
    const answer = streamOf(begun, ...chunks, end);
    const { reply } = callFor([chatWith(answer)], { passed });
    expect((await reply).replyError).toMatch(/16 MiB/);
  }
});

test("white space in front of a body is read once", async () => {
  const blanks = Array<string>(12_000).fill(" ".repeat(1024));
  const passing = callFor([chatWith(streamOf(...blanks, "\n", end))], { passed });
  expect((await passing.reply).replyError).toBeNull();
  const translated = callFor([chatWith(streamOf(...blanks, "\n", begun, end))]);
  expect((await translated.reply).replyError).toBeNull();
});
