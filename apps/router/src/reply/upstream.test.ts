import { expect, onTestFinished, test } from "vitest";
import type { Conversation } from "../conversation/conversation.ts";
import { createSignatureMemory } from "../conversation/signatures.ts";
import {
  anthropicEvents,
  chatDelta,
  chatEvents,
  chatUsage,
  responseEvents,
} from "../testing/provider-events.ts";
import { blocksOf, callFor, hello, targetAt } from "../testing/reply-calls.ts";
import { eventOf } from "../testing/reply-stream.ts";
import { startUpstream } from "../testing/upstreams.ts";
import { connectUpstream, type Upstream } from "./upstream.ts";

/** Starts a server that answers with the given events, or with JSON. */
async function serve(answer: readonly object[] | object) {
  const bodies: { messages?: unknown; input?: unknown }[] = [];
  const origin = await startUpstream((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    request.on("end", () => {
      bodies.push(JSON.parse(text));
      const isStream = Array.isArray(answer);
      response.setHeader("content-type", isStream ? "text/event-stream" : "application/json");
      response.end(isStream ? answer.map(eventOf).join("") : JSON.stringify(answer));
    });
  });
  return { origin, bodies };
}

const chat = (origin: string) =>
  connectUpstream({ type: "openai-chat", name: "chat", baseUrl: `${origin}/v1`, apiKey: null });
const responses = (origin: string) =>
  connectUpstream({
    type: "openai-responses",
    name: "responses",
    baseUrl: `${origin}/v1`,
    apiKey: "key",
  });
const anthropic = (origin: string) =>
  connectUpstream({ type: "anthropic", name: "messages", baseUrl: origin, apiKey: "key" });

const cached = { input: 10, cacheRead: 20, output: 9, reasoning: 4 };
const forms: [
  string,
  (origin: string) => Upstream,
  object[],
  blocks: string[],
  callIds: string[],
  signature: string,
  usage: object,
][] = [
  [
    "openai-chat",
    chat,
    chatEvents,
    ["hm", "I look", '{"at":1}', '{"at":2}'],
    ["a", "b"],
    "thought",
    cached,
  ],
  ["openai-responses", responses, responseEvents, ["hm", '{"at":1}'], ["a"], "enc", cached],
  [
    "anthropic",
    anthropic,
    anthropicEvents,
    ["hm", '{"at":1}'],
    ["a"],
    "sig",
    { input: 10, cacheRead: 15, cacheWrite: 5, output: 9 },
  ],
];

test.each(forms)(
  "%s: reasoning, calls, signature and tokens",
  async (_type, open, events, blocks, callIds, signature, usage) => {
    const { origin } = await serve(events);
    const { reply, pieces } = callFor([targetAt(open(origin))]);
    const { replyError, end } = await reply;
    expect(replyError).toBeNull();
    expect(end).toMatchObject({ finishReason: "tool-calls", usage });
    expect(blocksOf(pieces)).toEqual(blocks);
    const signed = pieces.flatMap((piece) =>
      "signature" in piece ? (piece.signature?.value ?? []) : [],
    );
    expect(signed).toEqual([signature]);
    const ids = pieces.flatMap((piece) => (piece.type === "toolCall" ? (piece.id ?? []) : []));
    expect(ids).toEqual(callIds);
  },
);

/** The next step of the conversation, whose client knows nothing of signatures. */
const nextStep: Conversation = {
  ...hello,
  messages: [
    ...hello.messages,
    {
      role: "assistant",
      parts: [
        { type: "reasoning", text: "hm", signature: null },
        { type: "toolCall", id: "a", name: "look", arguments: '{ "at": 1 }', signature: null },
      ],
    },
    {
      role: "user",
      parts: [
        { type: "toolResult", id: "a", parts: [{ type: "text", text: "7" }], isError: false },
      ],
    },
  ],
};

const steps: [string, (origin: string) => Upstream, object[], expected: unknown][] = [
  [
    "openai-chat",
    chat,
    chatEvents,
    {
      role: "assistant",
      content: null,
      reasoning_content: "hm",
      tool_calls: [
        {
          id: "a",
          type: "function",
          function: { name: "look", arguments: '{"at":1}' },
          extra_content: { google: { thought_signature: "thought" } },
        },
      ],
    },
  ],
  [
    "openai-responses",
    responses,
    responseEvents,
    {
      type: "reasoning",
      id: "rs",
      encrypted_content: "enc",
      summary: [{ type: "summary_text", text: "hm" }],
    },
  ],
  [
    "anthropic",
    anthropic,
    anthropicEvents,
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm", signature: "sig" },
        { type: "tool_use", id: "a", name: "look", input: { at: 1 } },
      ],
    },
  ],
];

test.each(steps)(
  "%s: the next step has the signature again",
  async (_type, open, events, expected) => {
    const { origin, bodies } = await serve(events);
    const signatures = createSignatureMemory();
    const target = targetAt(open(origin));
    await callFor([target], { signatures }).reply;
    await callFor([target], { signatures, conversation: nextStep }).reply;
    const { messages, input } = bodies[1] ?? {};
    expect(messages ?? input).toContainEqual(expected);
  },
);

const whole = {
  id: "1",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello!" }, finish_reason: "stop" }],
  usage: chatUsage,
};

test("a server that does not stream is read as a whole", async () => {
  const { origin, bodies } = await serve(whole);
  const { reply, pieces } = callFor([targetAt(chat(origin))]);
  expect((await reply).end).toMatchObject({ finishReason: "stop", usage: cached });
  expect(blocksOf(pieces)).toEqual(["Hello!"]);
  expect(bodies).toMatchObject([{ stream: true, stream_options: { include_usage: true } }]);
});

test("a server whose stream ends early, and one whose connection does", async () => {
  const { origin } = await serve([chatDelta({ content: "half" })]);
  const ended = callFor([targetAt(chat(origin))]);
  expect((await ended.reply).replyError).toMatch(/^The reply broke off/);
  expect(blocksOf(ended.pieces)).toEqual(["half"]);
  const cutting = await startUpstream((_request, response) => {
    response.setHeader("content-type", "text/event-stream");
    response.write(eventOf(chatDelta({ content: "half" })), () =>
      setImmediate(() => response.destroy()),
    );
  });
  const cut = await callFor([targetAt(chat(cutting))]).reply;
  expect(cut.replyError).toMatch(/^The reply broke off: the connection/);
  expect(cut.httpError).toBeNull();
});

test("a body that is cut or cannot be decoded does not hide the status of a rejection", async () => {
  const bodies: [headers: object, body: string][] = [
    [{ "content-encoding": "gzip" }, "no gzip"],
    [{ "content-length": "5000" }, "{"],
  ];
  for (const [headers, body] of bodies) {
    const rejecting = await startUpstream((_request, response) => {
      response.writeHead(429, { "retry-after": "7", ...headers });
      response.write(body, () => setImmediate(() => response.destroy()));
    });
    const { httpError, billedTokens: billed } = await callFor([targetAt(chat(rejecting))]).reply;
    expect(httpError).toEqual({ status: 429, code: null, retryAfter: "7" });
    expect(billed).toBeNull();
  }
});

test("a line of more than 16 MiB ends the reply", async () => {
  const chunk = Buffer.alloc(1024 * 1024, "a");
  const fetch = async () => new Response(ReadableStream.from(Array(17).fill(chunk)));
  const upstream = connectUpstream({
    type: "openai-chat",
    name: "a",
    baseUrl: "http://a.invalid",
    apiKey: null,
    fetch,
  });
  expect((await callFor([targetAt(upstream)]).reply).replyError).toMatch(/16 MiB/);
});

test("a redirect is a failure, so that no other origin gets the message", async () => {
  const { origin, bodies } = await serve(chatEvents);
  const redirecting = await startUpstream((_request, response) => {
    response.writeHead(307, { location: `${origin}/v1/chat/completions` }).end();
  });
  for (const open of [chat, responses, anthropic]) {
    expect((await callFor([targetAt(open(redirecting))]).reply).replyError).not.toBeNull();
  }
  expect(bodies).toEqual([]);
});

test("a silent reply is ended by the router's limits alone, not by those of undici", async () => {
  const key = Symbol.for("undici.globalDispatcher.2");
  const seen: object[] = [];
  const dispatch = (options: object, handler: DispatchHandler) => {
    seen.push(options);
    handler.onResponseError(null, new Error("cut"));
    return true;
  };
  const own: unknown = Reflect.get(globalThis, key);
  onTestFinished(() => void Reflect.set(globalThis, key, own));
  Reflect.set(globalThis, key, { dispatch });
  await callFor([targetAt(chat("http://a.invalid"))]).reply;
  expect(seen).toMatchObject([{ headersTimeout: 0, bodyTimeout: 0 }]);
});

interface DispatchHandler {
  onResponseError(controller: null, error: Error): void;
}
