import { seededRandom } from "evaluator-kit";
import { expect, test } from "vitest";
import type { ReplyEnd, ReplyPiece } from "../../reply/reply-piece.ts";
import { messagesApi } from "./messages-api.ts";
import type { ServerEvent } from "../../routes/event-stream.ts";

const head = { requestId: "r-1", model: "acme/large", createdAt: 1_700_000_000 };
const usage = { input: 5, cacheRead: 90, cacheWrite: 4, output: 30, reasoning: 20 };
const end = { finishReason: "tool-calls", usage } as const;
const signature = { value: "c2ln", metadata: { anthropic: { signature: "c2ln" } } };
const body = { model: "auto", max_tokens: 10, messages: [{ role: "user", content: "hi" }] };

const newWriter = () => messagesApi.write(head, messagesApi.read(body));

function write(pieces: readonly ReplyPiece[], given: ReplyEnd = end) {
  const writer = newWriter();
  const events = [...writer.begin(), ...writer.add(pieces), ...writer.end(given)];
  return { events, whole: writer.whole() };
}

const wireUsage = {
  input_tokens: 5,
  cache_creation_input_tokens: 4,
  cache_read_input_tokens: 90,
  output_tokens: 30,
  output_tokens_details: { thinking_tokens: 20 },
};

test("each block ends before the next one, and interleaved calls wait for their turn", () => {
  const { events, whole } = write([
    { type: "reasoning", key: "a", text: "Hm." },
    { type: "reasoning", key: "a", text: "", signature },
    { type: "text", key: "b", text: "I " },
    { type: "text", key: "b", text: "look." },
    { type: "toolCall", key: "c", id: "1", name: "f", text: "" },
    { type: "toolCall", key: "d", id: "2", name: "g", text: "{}" },
    { type: "toolCall", key: "c", text: '{"a":' },
    { type: "toolCall", key: "c", text: "1}" },
  ]);
  const delta = (index: number, given: object) => ({
    type: "content_block_delta",
    index,
    delta: given,
  });
  const start = (index: number, content_block: object) => ({
    type: "content_block_start",
    index,
    content_block,
  });
  const stop = (index: number) => ({ type: "content_block_stop", index });
  const message = { id: "msg_r-1", type: "message", role: "assistant", model: "acme/large" };
  const stopped = { stop_reason: "tool_use", stop_sequence: null };
  const zeros = Object.fromEntries(Object.keys(wireUsage).map((name) => [name, 0]));
  expect(events.map(({ data }) => data)).toEqual([
    {
      type: "message_start",
      message: {
        ...message,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...zeros, output_tokens_details: null },
      },
    },
    start(0, { type: "thinking", thinking: "", signature: "" }),
    delta(0, { type: "thinking_delta", thinking: "Hm." }),
    delta(0, { type: "signature_delta", signature: "c2ln" }),
    stop(0),
    start(1, { type: "text", text: "" }),
    delta(1, { type: "text_delta", text: "I " }),
    delta(1, { type: "text_delta", text: "look." }),
    stop(1),
    start(2, { type: "tool_use", id: "1", name: "f", input: {} }),
    delta(2, { type: "input_json_delta", partial_json: '{"a":' }),
    delta(2, { type: "input_json_delta", partial_json: "1}" }),
    stop(2),
    start(3, { type: "tool_use", id: "2", name: "g", input: {} }),
    delta(3, { type: "input_json_delta", partial_json: "{}" }),
    stop(3),
    { type: "message_delta", delta: stopped, usage: wireUsage },
    { type: "message_stop" },
  ]);
  expect(whole).toEqual({
    ...message,
    content: [
      { type: "thinking", thinking: "Hm.", signature: "c2ln" },
      { type: "text", text: "I look." },
      { type: "tool_use", id: "1", name: "f", input: { a: 1 } },
      { type: "tool_use", id: "2", name: "g", input: {} },
    ],
    ...stopped,
    usage: wireUsage,
  });
});

test("redacted thinking is a block without deltas, and empty text is no block", () => {
  const redacted = { value: "ZGF0YQ", metadata: { anthropic: { redactedData: "ZGF0YQ" } } };
  const { events, whole } = write([
    { type: "text", key: "a", text: "" },
    { type: "reasoning", key: "b", text: "" },
    { type: "reasoning", key: "c", text: "", signature: redacted },
  ]);
  const content_block = { type: "redacted_thinking", data: "ZGF0YQ" };
  expect(events.slice(1, -2).map(({ data }) => data)).toEqual([
    { type: "content_block_start", index: 0, content_block },
    { type: "content_block_stop", index: 0 },
  ]);
  expect(whole).toMatchObject({ content: [content_block] });
});

test("text after an open call waits for its end", () => {
  const { events } = write([
    { type: "toolCall", key: "a", id: "1", name: "f", text: "{" },
    { type: "text", key: "b", text: "Done." },
    { type: "toolCall", key: "a", text: "}" },
  ]);
  expect(events.map(({ event }) => event)).toEqual([
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_delta",
    "content_block_stop",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
});

const call: ReplyPiece = { type: "toolCall", key: "a", id: "1", name: "f", text: "" };
const reasons: [finishReason: ReplyEnd["finishReason"], pieces: ReplyPiece[], reason: string][] = [
  ["stop", [], "end_turn"],
  ["length", [call], "max_tokens"],
  ["content-filter", [], "refusal"],
  ["tool-calls", [call], "tool_use"],
  ["stop", [call], "tool_use"],
  ["tool-calls", [], "end_turn"],
  ["other", [], "end_turn"],
];

test.each(reasons)("the end %s after %j is %s", (finishReason, pieces, stop_reason) => {
  const { events, whole } = write(pieces, { finishReason, usage });
  expect(whole).toMatchObject({ stop_reason });
  expect(events.at(-2)?.data).toMatchObject({ delta: { stop_reason } });
});

test("a stop sequence that the model's service names is sent with its reason", () => {
  const text: ReplyPiece = { type: "text", key: "a", text: "One" };
  const { events, whole } = write([text], { finishReason: "stop", usage, stopSequence: "END" });
  const stopped = { stop_reason: "stop_sequence", stop_sequence: "END" };
  expect(whole).toMatchObject(stopped);
  expect(events.at(-2)?.data).toMatchObject({ delta: stopped });
});

test("unknown counts are zero, and arguments that are no object are kept as text", () => {
  const none = { input: null, cacheRead: null, cacheWrite: null, output: null, reasoning: null };
  const callOf = (key: string, text: string) => ({ ...call, key, text });
  const pieces = [callOf("a", '{"a":'), callOf("b", "[1]"), callOf("c", "")];
  const { whole } = write(pieces, { finishReason: "length", usage: none });
  expect(whole).toMatchObject({
    content: [
      { input: { rawInvalidInput: '{"a":' } },
      { input: { rawInvalidInput: "[1]" } },
      { input: {} },
    ],
    usage: { input_tokens: 0, output_tokens: 0, output_tokens_details: null },
  });
});

test("a failure is an error event", () => {
  const error = { type: "overloaded_error", message: "Busy." };
  expect(newWriter().fail("Busy.", 529)).toEqual([
    { event: "error", data: { type: "error", error } },
  ]);
});

/** Returns random pieces: blocks of text and reasoning one after another, and calls that interleave. */
function createPieces(random: () => number): ReplyPiece[] {
  const below = (most: number) => Math.floor(random() * most);
  const pieces: ReplyPiece[] = [];
  const calls: { key: string; rest: string[] }[] = [];
  for (let block = 0; block < 2 + below(6); block += 1) {
    const key = `${block}`;
    const texts = Array.from({ length: below(4) }, (_, index) => `${block}.${index} `);
    const type = (["text", "reasoning", "toolCall"] as const)[below(3)] ?? "text";
    if (type === "toolCall") {
      pieces.push({ type, key, id: `call_${key}`, name: "f", text: "" });
      calls.push({ key, rest: ['{"of":', `"${key}"`, "}"] });
    } else pieces.push(...texts.map((text) => ({ type, key, text })));
    if (type === "reasoning" && below(2) === 0) pieces.push({ type, key, text: "", signature });
    for (let count = below(4); count > 0; count -= 1)
      pieces.push(...nextOf(calls[below(calls.length)]));
  }
  return [...pieces, ...calls.flatMap((each) => [nextOf(each), nextOf(each), nextOf(each)].flat())];
}

function nextOf(one: { key: string; rest: string[] } | undefined): ReplyPiece[] {
  const text = one?.rest.shift();
  return one && text !== undefined ? [{ type: "toolCall", key: one.key, text }] : [];
}

interface Content {
  type: string;
  [field: string]: unknown;
}

interface Data {
  readonly type: string;
  readonly index?: number;
  readonly content_block?: Content;
  readonly delta?: Readonly<Record<string, string>>;
}

/** The state before and after each event. */
const order: Readonly<Record<string, [from: string, to: string]>> = {
  message_start: ["start", "between blocks"],
  content_block_start: ["between blocks", "in a block"],
  content_block_delta: ["in a block", "in a block"],
  content_block_stop: ["in a block", "between blocks"],
  message_delta: ["between blocks", "end"],
  message_stop: ["end", "stopped"],
};

/** Reads events as the clients do. @throws Error for an event that may not be next */
function readContent(events: readonly ServerEvent[]): Content[] {
  const content: Content[] = [];
  let state = "start";
  for (const { event, data } of events) {
    const { type, index, content_block, delta } = data as Data;
    const [from, to] = order[type] ?? [];
    if (content_block) content.push({ ...content_block });
    const isLast = index === undefined || index === content.length - 1;
    if (event !== type || state !== from || !isLast) throw new Error(`${type} while ${state}`);
    state = to ?? "";
    if (index !== undefined && delta) addDelta(content[index] ?? { type }, delta);
  }
  if (state !== "stopped") throw new Error(`the last state is ${state}`);
  return content.map(({ json, ...block }) =>
    json === undefined ? block : Object.assign(block, { input: JSON.parse(json as string) }),
  );
}

function addDelta(block: Content, { type = "", ...added }: Readonly<Record<string, string>>) {
  const field = type === "input_json_delta" ? "json" : type.slice(0, -"_delta".length);
  block[field] = `${(block[field] as string | undefined) ?? ""}${Object.values(added).join("")}`;
}

test("random pieces are events in order, that make up the whole message", () => {
  for (let seed = 0; seed < 500; seed += 1) {
    const pieces = createPieces(seededRandom(seed));
    const { events, whole } = write(pieces);
    const { content } = whole as { content: Content[] };
    expect(readContent(events), `seed ${seed}`).toEqual(content);
    expect(content).toHaveLength(new Set(pieces.map(({ key }) => key)).size);
    const calls = content.filter(({ type }) => type === "tool_use");
    for (const { id, input } of calls) expect(`call_${(input as { of: string }).of}`).toBe(id);
  }
});
