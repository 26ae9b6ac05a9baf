import { expect, test } from "vitest";
import type { ReplyEnd, ReplyPiece } from "../../reply/reply-piece.ts";
import type { ServerEvent } from "../../routes/event-stream.ts";
import { responsesApi } from "./responses-api.ts";

const usage = { input: 5000, cacheRead: 95_000, cacheWrite: null, output: 30, reasoning: 20 };
const stop: ReplyEnd = { finishReason: "stop", usage };

const tools = [
  { type: "function", name: "look", parameters: { type: "object" } },
  { type: "custom", name: "apply_patch" },
  { type: "namespace", name: "mcp__disk", tools: [{ type: "function", name: "list" }] },
];

function open(fields: object = {}) {
  const request = responsesApi.read({ model: "auto", input: "hi", tools, ...fields });
  return responsesApi.write({ requestId: "r", model: "acme/large", createdAt: 9 }, request);
}

type Data = Readonly<Record<string, unknown>> & { readonly type: string };

const dataOf = (events: readonly ServerEvent[]) => events.map(({ data }) => data as Data);

/** Returns the events of a reply in short, without those of its begin. */
function eventsOf(pieces: readonly ReplyPiece[], end: ReplyEnd = stop) {
  const writer = open();
  writer.begin();
  const events = dataOf([...pieces.flatMap((piece) => writer.add([piece])), ...writer.end(end)]);
  return events.slice(0, -1).map(({ sequence_number: _sequence, ...data }) => data);
}

const text = (value: string, key = "text-0"): ReplyPiece => ({ type: "text", key, text: value });
const reasoning = (value: string, signature?: string): ReplyPiece => ({
  type: "reasoning",
  key: "reasoning-0",
  text: value,
  ...(signature !== undefined && { signature: { value: signature, metadata: {} } }),
});
const call = (key: string, name: string, value = ""): ReplyPiece => ({
  type: "toolCall",
  key,
  id: `call_${key}`,
  name,
  text: value,
});
const more = (key: string, value: string): ReplyPiece => ({ type: "toolCall", key, text: value });

const at = (prefix: string, index: number) => ({
  item_id: `${prefix}_r_${index}`,
  output_index: index,
});
const outputText = (value: string) => ({
  type: "output_text",
  text: value,
  annotations: [],
  logprobs: [],
});
const message = (status: string, ...content: object[]) => ({
  id: "msg_r_0",
  type: "message",
  status,
  role: "assistant",
  content,
});

test("a text is an item with one part", () => {
  const inPart = { ...at("msg", 0), content_index: 0 };
  expect(eventsOf([text(""), text("Hel"), text(""), text("lo")])).toEqual([
    { type: "response.output_item.added", output_index: 0, item: message("in_progress") },
    { type: "response.content_part.added", ...inPart, part: outputText("") },
    { type: "response.output_text.delta", ...inPart, delta: "Hel", logprobs: [] },
    { type: "response.output_text.delta", ...inPart, delta: "lo", logprobs: [] },
    { type: "response.output_text.done", ...inPart, text: "Hello", logprobs: [] },
    { type: "response.content_part.done", ...inPart, part: outputText("Hello") },
    {
      type: "response.output_item.done",
      output_index: 0,
      item: message("completed", outputText("Hello")),
    },
  ]);
});

test("an empty text is no item", () => {
  expect(eventsOf([text("")])).toEqual([]);
});

test("reasoning ends with its signature before a call begins", () => {
  const inPart = { ...at("reasoning", 0), summary_index: 0 };
  const item = { id: "reasoning_r_0", type: "reasoning" };
  const part = { type: "summary_text", text: "hm" };
  const events = eventsOf([reasoning("hm"), reasoning("", "sig"), call("a", "look", "{}")]);
  expect(events.slice(0, 7)).toEqual([
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { ...item, summary: [], encrypted_content: null },
    },
    {
      type: "response.reasoning_summary_part.added",
      ...inPart,
      part: { type: "summary_text", text: "" },
    },
    { type: "response.reasoning_summary_text.delta", ...inPart, delta: "hm" },
    { type: "response.reasoning_summary_text.done", ...inPart, text: "hm" },
    { type: "response.reasoning_summary_part.done", ...inPart, part },
    {
      type: "response.output_item.done",
      output_index: 0,
      item: { ...item, summary: [part], encrypted_content: "sig" },
    },
    {
      type: "response.output_item.added",
      output_index: 1,
      item: {
        id: "fc_r_1",
        type: "function_call",
        status: "in_progress",
        call_id: "call_a",
        name: "look",
        arguments: "",
      },
    },
  ]);
});

test("reasoning without text is an item with its encrypted content", () => {
  const [added, done] = eventsOf([reasoning("", "opaque")]);
  expect(added).toMatchObject({ type: "response.output_item.added" });
  expect(done).toMatchObject({
    type: "response.output_item.done",
    item: { summary: [], encrypted_content: "opaque" },
  });
});

test("calls that interleave are items with their own index, and end with the reply", () => {
  const pieces = [
    call("a", "look", '{"at"'),
    call("b", "mcp__disk__list"),
    more("a", ":1}"),
    more("b", "{}"),
  ];
  const [a, b] = [at("fc", 0), at("fc", 1)];
  const item = {
    id: "fc_r_0",
    type: "function_call",
    status: "completed",
    call_id: "call_a",
    name: "look",
    arguments: '{"at":1}',
  };
  const namespaced = { call_id: "call_b", namespace: "mcp__disk", name: "list", arguments: "{}" };
  expect(eventsOf(pieces).slice(1)).toEqual([
    { type: "response.function_call_arguments.delta", ...a, delta: '{"at"' },
    expect.objectContaining({ type: "response.output_item.added", output_index: 1 }),
    { type: "response.function_call_arguments.delta", ...a, delta: ":1}" },
    { type: "response.function_call_arguments.delta", ...b, delta: "{}" },
    { type: "response.function_call_arguments.done", ...a, arguments: '{"at":1}' },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.function_call_arguments.done", ...b, arguments: "{}" },
    {
      type: "response.output_item.done",
      output_index: 1,
      item: { ...item, id: "fc_r_1", ...namespaced },
    },
  ]);
});

test.each([
  ['{"input":"*** Begin\\nPatch"}', "*** Begin\nPatch"],
  ['{"input":5}', '{"input":5}'],
  ["*** Begin", "*** Begin"],
  ["null", "null"],
  ["", ""],
])("the arguments %s of a custom tool are its input", (given, input) => {
  const item = { id: "ctc_r_0", type: "custom_tool_call", call_id: "call_a", name: "apply_patch" };
  const pieces = [call("a", "apply_patch", given.slice(0, 5)), more("a", given.slice(5))];
  expect(eventsOf(pieces)).toEqual([
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { ...item, status: "in_progress", input: "" },
    },
    { type: "response.custom_tool_call_input.delta", ...at("ctc", 0), delta: input },
    { type: "response.custom_tool_call_input.done", ...at("ctc", 0), input },
    {
      type: "response.output_item.done",
      output_index: 0,
      item: { ...item, status: "completed", input },
    },
  ]);
});

test("a made id of a call without one is the same in every event", () => {
  const pieces: ReplyPiece[] = [{ type: "toolCall", key: "a", name: "look", text: "{}" }];
  const [added, , , done] = eventsOf(pieces);
  const item = expect.objectContaining({ call_id: "call_r_0" }) as unknown;
  expect([added, done]).toEqual([
    { type: "response.output_item.added", output_index: 0, item },
    { type: "response.output_item.done", output_index: 0, item },
  ]);
});
