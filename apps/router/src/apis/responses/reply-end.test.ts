import { expect, test } from "vitest";
import type { ReplyPiece } from "../../reply/reply-piece.ts";
import type { ServerEvent } from "../../routes/event-stream.ts";
import { responsesApi } from "./responses-api.ts";
import { usageIn } from "../../testing/usage-in.ts";

const usage = { input: 5000, cacheRead: 95_000, cacheWrite: null, output: 30, reasoning: 20 };
const tools = [{ type: "function", name: "look", parameters: { type: "object" } }];

function open(fields: object = {}) {
  const request = responsesApi.read({ model: "auto", input: "hi", tools, ...fields });
  return responsesApi.write({ requestId: "r", model: "acme/large", createdAt: 9 }, request);
}

const hm: ReplyPiece = { type: "reasoning", key: "0", text: "hm" };
const hello: ReplyPiece = { type: "text", key: "1", text: "Hello" };
const dataOf = (events: readonly ServerEvent[]) =>
  events.map(({ data }) => data as Readonly<Record<string, unknown>>);

const message = (status: string) => ({
  id: "msg_r_0",
  type: "message",
  status,
  role: "assistant",
  content: [{ type: "output_text", text: "Hello", annotations: [], logprobs: [] }],
});

test("a whole reply repeats the request's settings, and counts cached tokens as input", () => {
  const writer = open({ instructions: "Be brief.", temperature: 0, text: { verbosity: "low" } });
  writer.add([hm, hello]);
  writer.end({ finishReason: "stop", usage });
  expect(writer.whole()).toEqual({
    id: "resp_r",
    object: "response",
    created_at: 9,
    model: "acme/large",
    status: "completed",
    error: null,
    incomplete_details: null,
    instructions: "Be brief.",
    max_output_tokens: null,
    metadata: {},
    output: [
      {
        id: "reasoning_r_0",
        type: "reasoning",
        summary: [{ type: "summary_text", text: "hm" }],
        encrypted_content: null,
      },
      { ...message("completed"), id: "msg_r_1" },
    ],
    parallel_tool_calls: true,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: 0,
    text: { format: { type: "text" }, verbosity: "low" },
    tool_choice: "auto",
    tools,
    top_p: null,
    usage: {
      input_tokens: 100_000,
      input_tokens_details: { cached_tokens: 95_000, cache_write_tokens: 0 },
      output_tokens: 30,
      output_tokens_details: { reasoning_tokens: 20 },
      total_tokens: 100_030,
    },
  });
  expect(usageIn(writer.whole())).toEqual({ ...usage, cacheWrite: 0 });
});

const nothing = { input: null, cacheRead: null, cacheWrite: null, output: null, reasoning: null };

test.each([
  ["length", "response.incomplete", "max_output_tokens"],
  ["content-filter", "response.incomplete", "content_filter"],
  ["tool-calls", "response.completed", null],
  ["other", "response.completed", null],
] as const)("the finish reason %s is %s", (finishReason, type, reason) => {
  const writer = open();
  const events = dataOf([
    ...writer.begin(),
    ...writer.add([hello]),
    ...writer.end({ finishReason, usage: nothing }),
  ]);
  const [, , , , , , , last] = events;
  const status = reason === null ? "completed" : "incomplete";
  const response = expect.objectContaining({
    status,
    incomplete_details: reason === null ? null : { reason },
    output: [message(status)],
    usage: null,
  }) as unknown;
  expect(events.at(-1)).toEqual({ type, sequence_number: events.length - 1, response });
  expect(last).toMatchObject({ item: { status } });
});

test.each([
  [400, "invalid_prompt"],
  [429, "rate_limit_exceeded"],
  [504, "server_error"],
])("a failure with status %i is the last event, with the code %s", (status, code) => {
  const writer = open();
  const events = dataOf([
    ...writer.begin(),
    ...writer.add([hm, hello]),
    ...writer.fail("no", status),
  ]);
  expect(events.at(-1)).toMatchObject({
    type: "response.failed",
    sequence_number: events.length - 1,
    response: { status: "failed", error: { code, message: "no" }, output: [{ type: "reasoning" }] },
  });
});

test("a failure after pings alone begins the reply", () => {
  expect(dataOf(open().fail("no", 502)).map(({ type }) => type)).toEqual([
    "response.created",
    "response.in_progress",
    "response.failed",
  ]);
});

test("usage is read from a body and from the last event", () => {
  const body = { usage: { input_tokens: 3, output_tokens: 1 } };
  const expected = { ...nothing, input: 3, output: 1 };
  expect(usageIn(body)).toEqual(expected);
  expect(usageIn({ type: "response.completed", response: body })).toEqual(expected);
  for (const event of [null, "x", 5, [], {}, { response: null }, { response: { usage: null } }]) {
    expect(usageIn(event)).toBeNull();
  }
});
