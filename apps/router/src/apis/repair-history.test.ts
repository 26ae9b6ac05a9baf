import { describe, expect, test } from "vitest";
import { repairHistory } from "./repair-history.ts";

const user = (content: unknown) => ({ role: "user", content });
const fn = { name: "look", arguments: "{}" };

const chatCall = (id: string, args: unknown = "{}") => ({
  id,
  type: "function",
  function: { name: "look", arguments: args },
});
const chatCalls = (...ids: string[]) => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => chatCall(id)),
});
const chatResult = (id: string, content: unknown) => ({ role: "tool", tool_call_id: id, content });

const use = (id: string, input: unknown = {}) => ({ type: "tool_use", id, name: "look", input });
const uses = (...ids: string[]) => ({ role: "assistant", content: ids.map((id) => use(id)) });
const got = (id: string, content: string) => ({ type: "tool_result", tool_use_id: id, content });

const item = (call_id: string, args: unknown = "{}") => ({
  type: "function_call",
  call_id,
  name: "look",
  arguments: args,
});
const output = (call_id: string, value: unknown) => ({
  type: "function_call_output",
  call_id,
  output: value,
});

const note = user("note");
const types = {
  chat: "openai-chat",
  messages: "anthropic",
  responses: "openai-responses",
} as const;
type Row = [
  situation: string,
  api: keyof typeof types,
  history: unknown[],
  repaired: unknown[],
  repairs: string[],
];

const listOf = { chat: "messages", messages: "messages", responses: "input" };

const rows: Row[] = [
  [
    "calls with one id are paired in order",
    "chat",
    [chatCalls("x", "x"), chatResult("x", "1"), chatResult("x", "2")],
    [
      { ...chatCalls("x"), tool_calls: [chatCall("x"), chatCall("#1")] },
      chatResult("x", "1"),
      chatResult("#1", "2"),
    ],
    ["call-ids"],
  ],
  [
    "calls without ids are paired in order",
    "chat",
    [
      { ...chatCalls(), tool_calls: [{ type: "function", function: fn }, chatCall("")] },
      { role: "tool", content: "1" },
      chatResult("", "2"),
    ],
    [chatCalls("#1", "#2"), chatResult("#1", "1"), chatResult("#2", "2")],
    ["call-ids"],
  ],
  [
    "a result without an id belongs to the first open call",
    "chat",
    [chatCalls("a", "b"), chatResult("a", "1"), { role: "tool", content: "2" }],
    [chatCalls("a", "b"), chatResult("a", "1"), chatResult("b", "2")],
    ["call-ids"],
  ],
  [
    "results follow their calls",
    "chat",
    [chatCalls("a", "b"), chatResult("a", "1"), note, chatResult("b", "2"), user("go")],
    [chatCalls("a", "b"), chatResult("a", "1"), chatResult("b", "2"), note, user("go")],
    ["result-order"],
  ],
  [
    "results of calls in two messages follow their own",
    "chat",
    [chatCalls("a"), chatCalls("b"), chatResult("a", "1"), chatResult("b", "2")],
    [chatCalls("a"), chatResult("a", "1"), chatCalls("b"), chatResult("b", "2")],
    ["result-order"],
  ],
  [
    "nothing is no content",
    "chat",
    [user("hi"), chatCalls("a"), chatResult("a", null), user(null), { role: "system" }, user("go")],
    [user("hi"), chatCalls("a"), chatResult("a", ""), user("go")],
    ["empty-content"],
  ],
  [
    "calls of old histories are tool calls",
    "chat",
    [
      { role: "assistant", content: null, function_call: { name: "look", arguments: "" } },
      { role: "function", name: "look", content: "1" },
      { role: "assistant", content: "x", function_call: fn, tool_calls: [chatCall("a")] },
      chatResult("a", "2"),
    ],
    [
      chatCalls("#1"),
      { ...chatResult("#1", "1"), name: "look" },
      { ...chatCalls("a"), content: "x" },
      chatResult("a", "2"),
    ],
    ["old-calls", "arguments", "call-ids"],
  ],
  [
    "arguments are the text of an object",
    "chat",
    [
      {
        ...chatCalls(),
        tool_calls: [chatCall("a", " "), chatCall("b", null), chatCall("c", { at: 1 })],
      },
    ],
    [
      {
        ...chatCalls(),
        tool_calls: [chatCall("a"), chatCall("b"), chatCall("c", '{"at":1}')],
      },
    ],
    ["arguments"],
  ],
  [
    "inputs are objects",
    "messages",
    [
      user("hi"),
      {
        role: "assistant",
        content: ["", null, [], '{"at":1}', "at 1"].map((input, at) => use(`t${at}`, input)),
      },
    ],
    [
      user("hi"),
      {
        role: "assistant",
        content: [{}, {}, {}, { at: 1 }, { input: "at 1" }].map((input, at) =>
          use(`t${at}`, input),
        ),
      },
    ],
    ["arguments"],
  ],
  [
    "results come first after their calls",
    "messages",
    [
      uses("a", "b"),
      user([{ type: "text", text: "note" }, got("b", "2")]),
      note,
      user([got("a", "1")]),
    ],
    [
      uses("a", "b"),
      user([got("b", "2"), got("a", "1")]),
      user([{ type: "text", text: "note" }]),
      note,
    ],
    ["result-order"],
  ],
  [
    "calls with one id are paired in order",
    "messages",
    [user(null), uses("", "x", "x"), user([got("", "0"), got("x", "1"), got("x", "2")])],
    [uses("#1", "x", "#2"), user([got("#1", "0"), got("x", "1"), got("#2", "2")])],
    ["empty-content", "call-ids"],
  ],
  [
    "calls with one id are paired in order",
    "responses",
    [item("x", ""), item("x", { at: 1 }), note, output("x", "1"), output("x", null)],
    [item("x"), item("#1", '{"at":1}'), note, output("x", "1"), output("#1", "")],
    ["empty-content", "arguments", "call-ids"],
  ],
];

/** Numbers the ids that were made, in their order. */
function numbered(body: unknown): unknown {
  const ids = new Set<string>();
  const text = JSON.stringify(body).replaceAll(/call_[\w-]{24}/g, (id) => {
    return `#${[...ids.add(id)].indexOf(id) + 1}`;
  });
  return JSON.parse(text);
}

test.each(rows)("%s (%s, row %$)", (_situation, api, history, repaired, repairs) => {
  const body = { model: "m", [listOf[api]]: history };
  const read = repairHistory(types[api], body);
  expect(numbered(read)).toEqual({ body: { ...body, [listOf[api]]: repaired }, repairs });
  const again = repairHistory(types[api], read.body);
  expect(again).toEqual({ body: read.body, repairs: [] });
  expect(again.body).toBe(read.body);
});

describe("a valid history", () => {
  const histories: [keyof typeof types, unknown[]][] = [
    [
      "chat",
      [
        user("hi"),
        chatCalls("call_0"),
        chatResult("call_0", "1"),
        { role: "assistant", content: null },
        chatCalls("call_0", "b"),
        chatResult("b", "2"),
        chatResult("call_0", "3"),
        user([{ type: "text", text: "go" }]),
      ],
    ],
    [
      "messages",
      [
        uses("a"),
        user([got("a", "1"), { type: "text", text: "go" }]),
        uses("a"),
        user([got("a", "1")]),
      ],
    ],
    [
      "responses",
      [
        item("a"),
        note,
        item("b"),
        output("b", "1"),
        output("a", "2"),
        { type: "item_reference", id: "r" },
      ],
    ],
  ];

  test.each(histories)("of %s is not copied", (api, history) => {
    const body = { [listOf[api]]: history };
    expect(repairHistory(types[api], body)).toEqual({ body, repairs: [] });
    expect(repairHistory(types[api], body).body).toBe(body);
  });

  test.each([null, "hi", [], {}, { messages: "hi" }, { messages: [null, "a", [1], {}] }])(
    "%j is left to the schema",
    (body) => {
      expect(repairHistory("openai-chat", body).body).toBe(body);
    },
  );
});

test("long histories are repaired in linear time", () => {
  const ids = Array.from({ length: 100_000 }, () => "x");
  const history = [chatCalls(...ids), note, ...ids.map((id) => chatResult(id, "1"))];
  const { repairs } = repairHistory("openai-chat", { messages: history });
  expect(repairs).toEqual(["call-ids", "result-order"]);
});
