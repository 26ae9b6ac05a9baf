import { expect, test } from "vitest";
import { toConversation } from "../conversation/conversation.ts";
import { plantedKey } from "../testing/keep-output.ts";
import { blocksOf } from "../testing/reply-calls.ts";
import { redactor } from "./redactor.ts";
import { ReplyPieces } from "./reply-pieces.ts";

const usage = {
  inputTokens: { total: 3, noCache: 1, cacheRead: 2, cacheWrite: 0 },
  outputTokens: { total: 4, reasoning: 1 },
};
const finish = { type: "finish", finishReason: { unified: "tool-calls" }, usage };

/** Returns the pieces of each chunk of parts. */
function piecesOf(...chunks: object[][]) {
  const signed: unknown[] = [];
  const meter = { written: 0, reported: null };
  const redact = redactor([plantedKey]);
  const pieces = new ReplyPieces({ redact, meter, onSigned: (part) => signed.push(part) });
  const taken = chunks.map((parts) => {
    for (const part of parts) pieces.add(part);
    return pieces.take();
  });
  return { taken, all: taken.flat(), signed, meter, end: () => pieces.end() };
}

const text = (delta: string, id = "0") => ({ type: "text-delta", id, delta });
const reasoning = (delta: string, id = "0") => ({ type: "reasoning-delta", id, delta });
const input = (id: string, delta: string) => ({ type: "tool-input-delta", id, delta });
const begin = (id: string) => ({ type: "tool-input-start", id, toolName: `tool-${id}` });
const call = (toolCallId: string, given: string, rest: object = {}) => ({
  type: "tool-call",
  toolCallId,
  toolName: `tool-${toolCallId}`,
  input: given,
  ...rest,
});

test("the deltas of a chunk are one piece", () => {
  const { taken } = piecesOf([text("a"), text("b")], [text("c")]);
  expect(taken).toEqual([
    [{ type: "text", key: "text-0", text: "ab" }],
    [{ type: "text", key: "text-0", text: "c" }],
  ]);
});

test("tool calls that interleave keep their arguments apart", () => {
  const { all } = piecesOf([
    begin("a"),
    begin("b"),
    input("a", '{"x":'),
    input("b", '{"y":'),
    input("a", "1}"),
    input("b", "2}"),
    call("b", '{"y":2}'),
    call("a", '{"x":1}'),
    finish,
  ]);
  expect(all).toEqual([
    { type: "toolCall", key: "toolCall-0", id: "a", name: "tool-a", text: "" },
    { type: "toolCall", key: "toolCall-1", id: "b", name: "tool-b", text: "" },
    { type: "toolCall", key: "toolCall-0", text: '{"x":' },
    { type: "toolCall", key: "toolCall-1", text: '{"y":' },
    { type: "toolCall", key: "toolCall-0", text: "1}" },
    { type: "toolCall", key: "toolCall-1", text: "2}" },
  ]);
});

test("a call gets a new id if a call of the conversation or of the reply has its own", () => {
  const earlier = {
    type: "toolCall",
    id: "a",
    name: "",
    arguments: "{}",
    signature: null,
  } as const;
  const messages = [{ role: "assistant", parts: [earlier] }] as const;
  const conversation = { ...toConversation(""), messages };
  const meter = { written: 0, reported: null };
  const pieces = new ReplyPieces({ conversation, redact: redactor([]), meter, onSigned: () => {} });
  for (const id of ["a", "b", "b"]) pieces.add(call(id, "{}"));
  const made = expect.stringMatching(/^call_/) as string;
  expect(pieces.take()).toMatchObject([{ id: made }, { id: "b" }, { id: made }]);
});

test("a tool call that is not streamed is whole, with JSON for an object", () => {
  const object = { ...call("b", ""), input: { y: 2 } };
  const { all } = piecesOf([call("a", "{}"), object, finish]);
  expect(all).toEqual([
    { type: "toolCall", key: "toolCall-0", id: "a", name: "tool-a", text: "{}" },
    { type: "toolCall", key: "toolCall-1", id: "b", name: "tool-b", text: '{"y":2}' },
  ]);
});

test("a call without an id gets one for the whole reply", () => {
  const { all } = piecesOf([
    { type: "tool-input-start", toolName: "look" },
    { type: "tool-input-delta", delta: "{}" },
    { type: "tool-call", toolName: "look", input: "{}" },
    { type: "tool-call", toolName: "look", input: "[]" },
  ]);
  const ids = all.flatMap((piece) => (piece.type === "toolCall" ? (piece.id ?? []) : []));
  expect(ids).toEqual([expect.stringMatching(/^call_/), expect.stringMatching(/^call_/)]);
  expect(new Set(ids).size).toBe(2);
  expect(blocksOf(all)).toEqual(["{}", "[]"]);
});

const [start, end] = [plantedKey.slice(0, 9), plantedKey.slice(9)];
const cuts: [kind: string, first: object[], second: object[]][] = [
  ["text", [text(`is ${start}`)], [text(`${end} it`)]],
  ["reasoning", [reasoning(`is ${start}`)], [reasoning(`${end} it`)]],
  ["arguments", [begin("a"), input("a", `is ${start}`)], [input("a", `${end} it`)]],
];

test.each(cuts)("a secret that is cut across pieces of %s is replaced", (_kind, first, second) => {
  const { taken, all } = piecesOf(first, second, [finish]);
  expect(blocksOf(all)).toEqual(["is [secret] it"]);
  expect(blocksOf(taken[0] ?? [])).toEqual(["is "]);
});

test("the start of a secret at the end of a text follows before the next block", () => {
  const { all } = piecesOf([text(`is ${start}`), call("a", "{}"), text("more"), finish]);
  expect(all.map(({ key, text }) => [key, text])).toEqual([
    ["text-0", "is "],
    ["text-0", start],
    ["toolCall-1", "{}"],
    ["text-2", "more"],
  ]);
});

test("an id that is used again after its end begins another block", () => {
  const { all } = piecesOf([text("a"), { type: "text-end", id: "0" }, reasoning("b"), text("c")]);
  expect(all.map(({ key }) => key)).toEqual(["text-0", "reasoning-1", "text-2"]);
});

const signatures: [situation: string, parts: object[], value: string][] = [
  [
    "Anthropic's reasoning",
    [
      reasoning("hm"),
      { ...reasoning(""), providerMetadata: { anthropic: { signature: "sig" } } },
      { type: "reasoning-end", id: "0" },
    ],
    "sig",
  ],
  [
    "reasoning that OpenAI hides",
    [
      { type: "reasoning-start", id: "0", providerMetadata: { openai: { itemId: "rs" } } },
      {
        type: "reasoning-end",
        id: "0",
        providerMetadata: { openai: { reasoningEncryptedContent: "enc" } },
      },
    ],
    "enc",
  ],
  [
    "Google's call",
    [call("a", "{}", { providerMetadata: { google: { thoughtSignature: "thought" } } })],
    "thought",
  ],
  [
    "a call of a server with OpenAI's API",
    [call("a", "{}", { providerMetadata: { upstream: { thoughtSignature: "thought" } } })],
    "thought",
  ],
];

test.each(signatures)("the last piece has the signature of %s", (_situation, parts, value) => {
  const { all, signed } = piecesOf(parts);
  expect(all.at(-1)?.type).not.toBe("text");
  expect(all.at(-1)).toMatchObject({ signature: { value } });
  expect(signed).toMatchObject([{ signature: { value } }]);
});

test("a signature keeps all of the provider's values", () => {
  const [[, parts] = []] = signatures.slice(1);
  const { all } = piecesOf(parts ?? []);
  expect(all).toEqual([
    {
      type: "reasoning",
      key: "reasoning-0",
      text: "",
      signature: {
        value: "enc",
        metadata: { openai: { itemId: "rs", reasoningEncryptedContent: "enc" } },
      },
    },
  ]);
});

test("the end has the reason and the tokens", () => {
  const { end, meter } = piecesOf([reasoning("hm"), text("yes"), finish]);
  const counts = { input: 1, cacheRead: 2, cacheWrite: 0, output: 4, reasoning: 1 };
  expect(end()).toEqual({ finishReason: "tool-calls", usage: counts });
  expect(meter).toEqual({ written: 2, reported: counts });
});

test("the end has the stop sequence of Anthropic's models", () => {
  const endOf = (providerMetadata: unknown) => piecesOf([{ ...finish, providerMetadata }]).end();
  expect(endOf({ anthropic: { stopSequence: "END" } })).toMatchObject({ stopSequence: "END" });
  expect(endOf({ anthropic: { stopSequence: null } }).stopSequence).toBeUndefined();
});

test("a reply without an end is broken", () => {
  const { end } = piecesOf([text("yes")]);
  expect(end).toThrow(/^The reply broke off/);
});

const errors: [situation: string, error: unknown, message: string][] = [
  ["a text", "no more", "The reply broke off: no more"],
  ["a message", { message: "no more" }, "The reply broke off: no more"],
  ["neither", 7, "The reply broke off: its service gave no reason."],
];

test.each(errors)("an error with %s ends the reply", (_situation, error, message) => {
  expect(() => piecesOf([{ type: "error", error }])).toThrow(message);
});

test("parts of any form give no error", () => {
  const odd = [{}, { type: "text-delta" }, { type: "finish" }, { type: "tool-call" }];
  expect(() => piecesOf(odd, [{ type: "reasoning-end", providerMetadata: 7 }])).not.toThrow();
});

test.each([
  { unified: "stop", raw: "stop" },
  { unified: "other", raw: "eos" },
])("a text that ends with %j is whole", (finishReason) => {
  const { end } = piecesOf([text("a"), { ...finish, finishReason }]);
  expect(end()).toMatchObject({ finishReason: finishReason.unified });
});

test.each([
  [{ unified: "other" }],
  [{ unified: "interrupted", raw: "stop" }],
  [{ unified: "error", raw: "error" }],
  [{ unified: "error", raw: "MALFORMED_FUNCTION_CALL" }],
  [{ unified: "tool-calls", raw: "malformed_function_call" }],
  [{ unified: "a-later-reason", raw: "x" }],
  [undefined],
])("a text that ends with %j broke off", (finishReason) => {
  expect(piecesOf([text("a"), { ...finish, finishReason }]).end).toThrow("broke off");
});

test("a reply without content ends with a reason of its service's list, or it broke off", () => {
  expect(piecesOf([finish]).end()).toMatchObject({ finishReason: "tool-calls" });
  const other = { ...finish, finishReason: { unified: "other", raw: "eos" } };
  expect(piecesOf([other]).end).toThrow("broke off");
});
