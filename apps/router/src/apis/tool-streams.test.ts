import { expect, test } from "vitest";
import { oneUpstream, upstreamNames } from "../testing/one-upstream.ts";

type Type = (typeof upstreamNames)[number];

/** A tool call of a service: its id and the pieces of its arguments. */
interface Called {
  readonly id: string;
  readonly pieces: readonly string[];
}

const head = { id: "1", model: "m", created: 1 };
const message = { ...head, type: "message", role: "assistant", content: [] };
const usage = { input_tokens: 1, output_tokens: 1 };
const chunk = (delta: object, finish_reason: string | null = null) => ({
  ...head,
  choices: [{ index: 0, delta, finish_reason }],
});

/** Each service's events of a call and of the whole reply. */
const streams: Record<
  Type,
  { call: (called: Called, index: number) => object[]; begin: object[]; end: object[] }
> = {
  "openai-chat": {
    begin: [chunk({ role: "assistant", content: "" })],
    call: ({ id, pieces: [first = "", ...rest] }, index) => [
      chunk({
        tool_calls: [{ index, id, type: "function", function: { name: "f", arguments: first } }],
      }),
      ...rest.map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ],
    end: [chunk({}, "tool_calls")],
  },
  anthropic: {
    begin: [{ type: "message_start", message: { ...message, usage } }],
    call: ({ id, pieces }, index) => [
      {
        type: "content_block_start",
        index,
        content_block: { type: "tool_use", id, name: "f", input: {} },
      },
      ...pieces.map((partial_json) => ({
        type: "content_block_delta",
        index,
        delta: { type: "input_json_delta", partial_json },
      })),
      { type: "content_block_stop", index },
    ],
    end: [
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage },
      { type: "message_stop" },
    ],
  },
  "openai-responses": {
    begin: [{ type: "response.created", response: { id: "r", created_at: 1, model: "m" } }],
    call: ({ id, pieces }, output_index) => {
      const item = { type: "function_call", id: `fc_${output_index}`, call_id: id, name: "f" };
      const place = { output_index, item_id: item.id };
      const whole = pieces.at(-1) ?? "";
      return [
        { type: "response.output_item.added", output_index, item: { ...item, arguments: "" } },
        ...pieces.map((delta) => ({
          type: "response.function_call_arguments.delta",
          ...place,
          delta,
        })),
        { type: "response.function_call_arguments.done", ...place, arguments: whole },
        {
          type: "response.output_item.done",
          output_index,
          item: { ...item, arguments: whole, status: "completed" },
        },
      ];
    },
    end: [{ type: "response.completed", response: { usage } }],
  },
  gateway: {
    begin: [],
    call: ({ id, pieces }) => [
      { type: "tool-input-start", id, toolName: "f" },
      ...pieces.map((delta) => ({ type: "tool-input-delta", id, delta })),
      { type: "tool-call", toolCallId: id, toolName: "f", input: pieces.at(-1) ?? "{}" },
    ],
    end: [{ type: "finish", finishReason: { unified: "tool-calls" }, usage: {} }],
  },
};

/** How each API's clients find the calls of a whole reply. */
const readers = {
  chat: ({ choices }: Reply) =>
    choices?.[0]?.message.tool_calls.map(({ id, function: { arguments: text } }) => [id, text]),
  messages: ({ content }: Reply) => content?.map(({ id, input }) => [id, JSON.stringify(input)]),
  responses: ({ output }: Reply) => output?.map(({ call_id, arguments: text }) => [call_id, text]),
};

interface Reply {
  choices?: { message: { tool_calls: { id: string; function: { arguments: string } }[] } }[];
  content?: { id: string; input: object }[];
  output?: { call_id: string; arguments: string }[];
}

const tool = { name: "f", parameters: { type: "object" } };
const tools = {
  chat: [{ type: "function", function: tool }],
  messages: [{ name: "f", input_schema: tool.parameters }],
  responses: [{ type: "function", ...tool }],
};

const apis = ["chat", "messages", "responses"] as const;
const pairs = upstreamNames.flatMap((type) => apis.map((api) => [api, type] as const));
const made: unknown = expect.stringMatching(/^[\w-]{10,}$/);

/** Returns the ids and arguments of the calls that a client finds. */
async function callsFor(
  api: (typeof apis)[number],
  type: Type,
  called: Called[],
  more: object = {},
) {
  const { begin, call, end } = streams[type];
  const events = [...begin, ...called.flatMap(call), ...end];
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const answer = () => new Response(text, { headers: { "content-type": "text/event-stream" } });
  const { ask } = await oneUpstream(type, { answer });
  const response = await ask(api, { tools: tools[api], ...more });
  expect(response.status).toBe(200);
  return readers[api]((await response.json()) as Reply);
}

test.each(pairs)("a client of %s finds each call of %s under its own id", async (api, type) => {
  const [one, two] = [['{"a":', "1}"], ['{"a":2}']];
  const whole = type === "openai-responses" || type === "gateway" ? [['{"a":1}'], two] : [one, two];
  const [first = [], second = []] = whole;
  const calls = (id: string) => [
    { id, pieces: first },
    { id, pieces: second },
  ];
  expect(await callsFor(api, type, calls("x"))).toEqual([
    ["x", '{"a":1}'],
    [made, '{"a":2}'],
  ]);
  const unnamed = (await callsFor(api, type, calls(""))) ?? [];
  expect(unnamed).toEqual([
    [made, '{"a":1}'],
    [made, '{"a":2}'],
  ]);
  expect(unnamed[0]?.[0]).not.toBe(unnamed[1]?.[0]);
});

test.each(pairs)("a client of %s gets JSON as arguments of %s", async (api, type) => {
  const begun = [{ id: "x", pieces: ["{}", '{"a":1}'] }];
  expect(await callsFor(api, type, begun)).toEqual([["x", '{"a":1}']]);
  expect(await callsFor(api, type, [{ id: "x", pieces: ["{}"] }])).toEqual([["x", "{}"]]);
  expect(await callsFor(api, type, [{ id: "x", pieces: [] }])).toEqual([["x", "{}"]]);
});

const earlier = {
  chat: {
    messages: [
      { role: "user", content: "hi" },
      {
        role: "assistant",
        tool_calls: [{ id: "x", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "x", content: "1" },
    ],
  },
  messages: {
    messages: [
      { role: "user", content: "hi" },
      { role: "assistant", content: [{ type: "tool_use", id: "x", name: "f", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "x", content: "1" }] },
    ],
  },
  responses: {
    input: [
      { role: "user", content: "hi" },
      { type: "function_call", call_id: "x", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "x", output: "1" },
    ],
  },
};

test.each(pairs)(
  "a client of %s gets no id of an earlier call again from %s",
  async (api, type) => {
    const calls = [
      { id: "x", pieces: ['{"a":1}'] },
      { id: "y", pieces: ['{"a":2}'] },
    ];
    const found = (await callsFor(api, type, calls, earlier[api])) ?? [];
    expect(found).toEqual([
      [made, '{"a":1}'],
      ["y", '{"a":2}'],
    ]);
  },
);
