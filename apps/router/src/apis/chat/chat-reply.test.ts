import { seededRandom } from "evaluator-kit";
import { expect, test } from "vitest";
import type { ReplyPiece } from "../../reply/reply-piece.ts";
import { chatApi } from "./chat-api.ts";
import { usageIn } from "../../testing/usage-in.ts";

const head = { requestId: "r-1", model: "acme/large", createdAt: 1_700_000_000 };
const messages = [{ role: "user", content: "hi" }];
const usage = { input: 5, cacheRead: 90, cacheWrite: 5, output: 30, reasoning: 20 };
const end = { finishReason: "tool-calls", usage } as const;
const signature = { value: "c2ln", metadata: { google: { thoughtSignature: "c2ln" } } };

const pieces: readonly ReplyPiece[] = [
  { type: "reasoning", key: "a", text: "Hm." },
  { type: "reasoning", key: "a", text: "", signature },
  { type: "text", key: "b", text: "Let me " },
  { type: "text", key: "b", text: "look." },
  { type: "toolCall", key: "c", id: "call_1", name: "f", text: "", signature },
  { type: "toolCall", key: "d", id: "call_2", name: "g", text: "{}" },
  { type: "toolCall", key: "c", text: '{"a":' },
  { type: "toolCall", key: "c", text: "1}" },
];

function writerOf(fields: object = {}) {
  return chatApi.write(head, chatApi.read({ model: "auto", messages, ...fields }));
}

test("a streamed reply is chunks with the role first, and usage and [DONE] last", () => {
  const writer = writerOf({ stream: true, stream_options: { include_usage: true } });
  const events = [...writer.begin(), ...writer.add(pieces), ...writer.end(end)];
  const data = events.map((event) => event.data);
  expect(data.at(-1)).toBe("[DONE]");
  const base = { id: "chatcmpl-r-1", created: 1_700_000_000, model: "acme/large" };
  expect(data.at(-2)).toEqual({
    ...base,
    object: "chat.completion.chunk",
    choices: [],
    usage: {
      prompt_tokens: 100,
      completion_tokens: 30,
      total_tokens: 130,
      prompt_tokens_details: { cached_tokens: 90, cache_write_tokens: 5 },
      completion_tokens_details: { reasoning_tokens: 20 },
    },
  });
  expect(data[0]).toEqual({
    ...base,
    object: "chat.completion.chunk",
    choices: [
      { index: 0, delta: { role: "assistant", content: "" }, logprobs: null, finish_reason: null },
    ],
  });
  const choices = (
    data.slice(1, -2) as { choices: [{ delta: object; finish_reason: string }] }[]
  ).map(({ choices: [choice] }) => choice);
  expect(choices.map(({ delta }) => delta)).toEqual([
    { reasoning_content: "Hm." },
    { content: "Let me " },
    { content: "look." },
    {
      tool_calls: [
        {
          index: 0,
          id: "call_1",
          type: "function",
          extra_content: { google: { thought_signature: "c2ln" } },
          function: { name: "f", arguments: "" },
        },
      ],
    },
    {
      tool_calls: [
        { index: 1, id: "call_2", type: "function", function: { name: "g", arguments: "{}" } },
      ],
    },
    { tool_calls: [{ index: 0, function: { arguments: '{"a":' } }] },
    { tool_calls: [{ index: 0, function: { arguments: "1}" } }] },
    {},
  ]);
  expect(choices.at(-1)?.finish_reason).toBe("tool_calls");
});

test("a whole reply has the text, the reasoning, the calls and the usage", () => {
  const writer = writerOf();
  writer.add(pieces);
  writer.end(end);
  expect(writer.whole()).toEqual({
    id: "chatcmpl-r-1",
    object: "chat.completion",
    created: 1_700_000_000,
    model: "acme/large",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: "Let me look.",
          refusal: null,
          reasoning_content: "Hm.",
          tool_calls: [
            {
              id: "call_1",
              type: "function",
              extra_content: { google: { thought_signature: "c2ln" } },
              function: { name: "f", arguments: '{"a":1}' },
            },
            { id: "call_2", type: "function", function: { name: "g", arguments: "{}" } },
          ],
        },
        logprobs: null,
        finish_reason: "tool_calls",
      },
    ],
    usage: {
      prompt_tokens: 100,
      completion_tokens: 30,
      total_tokens: 130,
      prompt_tokens_details: { cached_tokens: 90, cache_write_tokens: 5 },
      completion_tokens_details: { reasoning_tokens: 20 },
    },
  });
});

test.each([
  ["stop", "stop"],
  ["length", "length"],
  ["content-filter", "content_filter"],
  ["tool-calls", "tool_calls"],
  ["other", "stop"],
] as const)("a reply that ended by %s has the reason %s", (finishReason, finish_reason) => {
  const writer = writerOf();
  const unknown = { input: null, cacheRead: null, cacheWrite: null, output: null, reasoning: null };
  const [last, done] = writer.end({ finishReason, usage: unknown });
  expect(last?.data).toMatchObject({ choices: [{ delta: {}, finish_reason }] });
  expect(done?.data).toBe("[DONE]");
  expect(writer.whole()).toMatchObject({
    choices: [{ message: { role: "assistant", content: "" }, finish_reason }],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  });
});

test("calls without text have null as content", () => {
  const writer = writerOf();
  writer.add(pieces.slice(4));
  writer.end(end);
  expect(writer.whole()).toMatchObject({ choices: [{ message: { content: null } }] });
});

test("a failure is an error without [DONE]", () => {
  expect(writerOf().fail("It broke off.", 502)).toEqual([
    { data: { error: { message: "It broke off.", type: "api_error", param: null, code: null } } },
  ]);
});

test("usage is read from a whole body and from a chunk", () => {
  const writer = writerOf({ stream_options: { include_usage: true } });
  const chunk = writer.end(end).at(-2)?.data;
  expect(usageIn(chunk)).toEqual(usage);
  expect(usageIn(writer.whole())).toEqual(usage);
  expect(usageIn({ choices: [], usage: null })).toBeNull();
  expect(usageIn("[DONE]")).toBeNull();
});

interface Delta {
  role?: string;
  content?: string;
  reasoning_content?: string;
  tool_calls?: { index: number; id?: string; function: { name?: string; arguments: string } }[];
}
interface Chunk {
  choices: { delta: Delta; finish_reason: string | null }[];
}

/** Reads chunks as a client does, and checks their order. */
function collect(data: readonly unknown[], hasUsage: boolean) {
  expect(data.at(-1)).toBe("[DONE]");
  const chunks = data.slice(0, -1) as Chunk[];
  const last = hasUsage ? chunks.pop() : null;
  expect(last?.choices ?? []).toEqual([]);
  const choices = chunks.map(({ choices }) => choices[0]);
  const reasons = choices.map((choice) => choice?.finish_reason);
  expect(reasons.findIndex((reason) => reason !== null)).toBe(choices.length - 1);
  const read = { content: "", reasoning: "", calls: [] as Record<string, string | undefined>[] };
  for (const [position, choice] of choices.entries()) {
    const { role, content = "", reasoning_content = "", tool_calls = [] } = choice?.delta ?? {};
    expect(role).toBe(position === 0 ? "assistant" : undefined);
    read.content += content;
    read.reasoning += reasoning_content;
    for (const { index, id, function: called } of tool_calls) {
      const isNew = index === read.calls.length;
      expect([id !== undefined, called.name !== undefined]).toEqual([isNew, isNew]);
      if (isNew) read.calls.push({ id, name: called.name, arguments: "" });
      const call = read.calls[index];
      expect(call).toBeDefined();
      if (call) call["arguments"] += called.arguments;
    }
  }
  return read;
}

test("random pieces are the same reply streamed and whole", () => {
  for (let seed = 0; seed < 300; seed += 1) {
    const random = seededRandom(seed);
    const hasUsage = random() < 0.5;
    const writer = writerOf({ stream_options: { include_usage: hasUsage } });
    const expected = { content: "", reasoning: "", calls: new Map<string, object>() };
    const batches = Array.from({ length: Math.floor(random() * 12) }, (_, batch) =>
      Array.from({ length: 1 + Math.floor(random() * 3) }, (_, index): ReplyPiece => {
        const text = random() < 0.2 ? "" : `${batch}.${index} `;
        const kind = Math.floor(random() * 3);
        if (kind === 0) expected.content += text;
        if (kind === 0) return { type: "text", key: "t", text };
        if (kind === 1) expected.reasoning += text;
        if (kind === 1) return { type: "reasoning", key: "r", text };
        const key = `call-${Math.floor(random() * 4)}`;
        const known = expected.calls.get(key) as { arguments: string } | undefined;
        const names = known === undefined ? { id: `id-${key}`, name: `tool-${key}` } : {};
        const whole = { ...known, ...names, arguments: (known?.arguments ?? "") + text };
        expected.calls.set(key, whole);
        return { type: "toolCall", key, text, ...names };
      }),
    );
    const events = [
      ...writer.begin(),
      ...batches.flatMap((batch) => writer.add(batch)),
      ...writer.end(end),
    ];
    const calls = [...expected.calls.values()];
    const streamed = collect(
      events.map(({ data }) => data),
      hasUsage,
    );
    expect(streamed).toEqual({ ...expected, calls });
    const { choices } = writer.whole() as { choices: [{ message: Record<string, unknown> }] };
    const { content, reasoning_content = "", tool_calls = [] } = choices[0].message;
    const wholeCalls = (tool_calls as { id: string; function: object }[]).map((call) =>
      Object.assign({ id: call.id }, call.function),
    );
    expect({ content: content ?? "", reasoning: reasoning_content, calls: wholeCalls }).toEqual(
      streamed,
    );
  }
});
