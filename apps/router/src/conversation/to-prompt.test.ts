import { expect, test } from "vitest";
import type { Message, Part, ToolCallPart, ToolResultPart } from "./conversation.ts";
import { toPrompt } from "./to-call-options.ts";

const promptOf = (messages: readonly Message[], { isTextOnly = false } = {}) =>
  toPrompt(messages, { isTextOnly });

const system = (...parts: Part[]): Message => ({ role: "system", parts });
const user = (...parts: Part[]): Message => ({ role: "user", parts });
const assistant = (...parts: Part[]): Message => ({ role: "assistant", parts });
const text = (value: string) => ({ type: "text" as const, text: value });

function call(id: string, given: Partial<ToolCallPart> = {}): ToolCallPart {
  return { type: "toolCall", id, name: "look", arguments: '{"at":1}', signature: null, ...given };
}

function result(id: string, given: Partial<ToolResultPart> = {}): ToolResultPart {
  return { type: "toolResult", id, parts: [text(`seen ${id}`)], isError: false, ...given };
}

const toolCall = (id: string) => ({
  type: "tool-call",
  toolCallId: id,
  toolName: "look",
  input: { at: 1 },
});
const toolResult = (id: string, output: object) => ({
  type: "tool-result",
  toolCallId: id,
  toolName: "look",
  output,
});
const textResult = (id: string, value: string) => toolResult(id, { type: "text", value });
const seen = (id: string) => textResult(id, `seen ${id}`);

type Expected = readonly { readonly role: string; readonly content: unknown }[];

const orders: [situation: string, messages: Message[], expected: Expected][] = [
  [
    "results and text in one message of the user",
    [assistant(call("a"), call("b")), user(result("b"), result("a"), text("go on"))],
    [
      { role: "assistant", content: [toolCall("a"), toolCall("b")] },
      { role: "tool", content: [seen("a"), seen("b")] },
      { role: "user", content: [text("go on")] },
    ],
  ],
  [
    "text between a call and its result",
    [assistant(call("a")), user(text("wait")), user(result("a"))],
    [
      { role: "assistant", content: [toolCall("a")] },
      { role: "tool", content: [seen("a")] },
      { role: "user", content: [text("wait")] },
    ],
  ],
  [
    "empty texts",
    [
      system(text("")),
      user(text("")),
      assistant(text("")),
      user(text(""), text("go on")),
      assistant(text(""), call("a")),
      user(result("a"), text("")),
    ],
    [
      { role: "user", content: [text("go on")] },
      { role: "assistant", content: [toolCall("a")] },
      { role: "tool", content: [seen("a")] },
    ],
  ],
  [
    "two messages with calls before their results",
    [assistant(call("a")), assistant(call("b")), user(result("a"), result("b"))],
    [
      { role: "assistant", content: [toolCall("a")] },
      { role: "tool", content: [seen("a")] },
      { role: "assistant", content: [toolCall("b")] },
      { role: "tool", content: [seen("b")] },
    ],
  ],
  [
    "an interrupted call",
    [assistant(text("let me see"), call("a"), call("b")), user(result("a"), text("stop"))],
    [
      { role: "assistant", content: [text("let me see"), toolCall("a"), toolCall("b")] },
      { role: "tool", content: [seen("a"), textResult("b", "interrupted by the user")] },
      { role: "user", content: [text("stop")] },
    ],
  ],
  [
    "an id that a later reply uses again",
    [assistant(call("a")), user(text("stop")), assistant(call("a")), user(result("a"))],
    [
      { role: "assistant", content: [toolCall("a")] },
      { role: "tool", content: [textResult("a", "interrupted by the user")] },
      { role: "user", content: [text("stop")] },
      { role: "assistant", content: [toolCall("a")] },
      { role: "tool", content: [seen("a")] },
    ],
  ],
  [
    "a result without a call",
    [user(result("a"), text("go on"))],
    [
      { role: "tool", content: [{ ...seen("a"), toolName: "" }] },
      { role: "user", content: [text("go on")] },
    ],
  ],
  [
    "instructions after the beginning, which many models refuse",
    [system(text("one"), text("two")), user(text("hello")), system(text("three")), system()],
    [
      { role: "system", content: "one\ntwo" },
      { role: "user", content: [text("hello")] },
      { role: "user", content: [text("<system-reminder>\nthree\n</system-reminder>")] },
    ],
  ],
  [
    "instructions alone",
    [system(text("one")), system(), system(text("two"))],
    [
      { role: "system", content: "one" },
      { role: "system", content: "two" },
    ],
  ],
];

test.each(orders)("the order holds for %s", (_situation, messages, expected) => {
  expect(promptOf(messages)).toEqual(expected);
});

const image = { type: "image" as const, url: "data:image/png;base64,aGk=" };
const png = {
  type: "file",
  mediaType: "image/png",
  data: { type: "data", data: "aGk=" },
} as const;

test("a result's image stays in the result", () => {
  const results = [result("a", { parts: [text("here"), image] })];
  expect(promptOf([assistant(call("a")), user(...results)]).at(1)).toEqual({
    role: "tool",
    content: [toolResult("a", { type: "content", value: [text("here"), png] })],
  });
});

test("a result's image follows in a message of the user if the upstream takes text only", () => {
  const results = [result("a", { parts: [text("here"), image] }), result("b")];
  const messages = [assistant(call("a"), call("b")), user(...results, text("go on"))];
  expect(promptOf(messages, { isTextOnly: true }).slice(1)).toEqual([
    { role: "tool", content: [textResult("a", "here\n[image]"), seen("b")] },
    { role: "user", content: [png] },
    { role: "user", content: [text("go on")] },
  ]);
});

test("a result that is an error stays one, with its image after it", () => {
  const results = [result("a", { parts: [text("no such file"), image], isError: true })];
  expect(promptOf([assistant(call("a")), user(...results)]).slice(1)).toEqual([
    {
      role: "tool",
      content: [toolResult("a", { type: "error-text", value: "no such file\n[image]" })],
    },
    { role: "user", content: [png] },
  ]);
});

const urls: [url: string, mediaType: string, data: object][] = [
  [
    "https://example.com/a.png",
    "image/*",
    { type: "url", url: new URL("https://example.com/a.png") },
  ],
  ["data:image/gif;base64,R0lG", "image/gif", { type: "data", data: "R0lG" }],
  ["DATA:;Base64,R0lG", "image/*", { type: "data", data: "R0lG" }],
  [
    "data:image/svg+xml;charset=utf-8,%3Csvg/%3E",
    "image/svg+xml",
    { type: "data", data: "PHN2Zy8+" },
  ],
  ["data:text/plain,50%", "text/plain", { type: "data", data: "NTAl" }],
];

test.each(urls)("the address %s is read", (url, mediaType, data) => {
  expect(promptOf([user({ type: "image", url })])).toEqual([
    { role: "user", content: [{ type: "file", mediaType, data }] },
  ]);
});

test("a file keeps its name and its media type", () => {
  const url = "https://example.com/a";
  const file = { type: "file" as const, url, mediaType: "application/pdf", filename: "a.pdf" };
  const data = { type: "url", url: new URL(url) };
  expect(promptOf([user(file)])).toEqual([
    { role: "user", content: [{ ...file, url: undefined, data }] },
  ]);
});

const cached = { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } };

test("cache marks stay on their parts", () => {
  const prompt = promptOf([
    system({ ...text("long"), ...cached }, text("short")),
    user({ ...text("hello"), ...cached }),
    assistant({ ...text("hm"), ...cached }, { ...call("a"), ...cached }),
    user({ ...result("a"), ...cached }),
  ]);
  expect(prompt).toEqual([
    { role: "system", content: "long", ...cached },
    { role: "system", content: "short" },
    { role: "user", content: [{ ...text("hello"), ...cached }] },
    {
      role: "assistant",
      content: [
        { ...text("hm"), ...cached },
        { ...toolCall("a"), ...cached },
      ],
    },
    { role: "tool", content: [{ ...seen("a"), ...cached }] },
  ]);
});

test("a chat template gets one system message, and none if there are no instructions", () => {
  const instructions = system({ ...text("long"), ...cached }, text("short"));
  const prompt = promptOf([instructions, user(text("hello"))], { isTextOnly: true });
  const said = { role: "user", content: [text("hello")] };
  expect(prompt).toEqual([{ role: "system", content: "long\nshort" }, said]);
  expect(promptOf([system(), user(text("hello"))], { isTextOnly: true })).toEqual([said]);
});

test("a signature is passed on in its provider's options", () => {
  const providerOptions = { openai: { itemId: "rs_1", reasoningEncryptedContent: "sig" } };
  const reasoning = { type: "reasoning" as const, text: "", signature: "sig", providerOptions };
  expect(promptOf([assistant(reasoning)]).at(0)?.content).toEqual([
    { type: "reasoning", text: "", providerOptions },
  ]);
});

const inputs: [situation: string, text: string, input: unknown][] = [
  ["JSON", '{"__proto__":1}', JSON.parse('{"__proto__":1}')],
  ["no JSON", '{"at":', '{"at":'],
  ["empty", "", {}],
  ["too deep to be written again", "[".repeat(10_000) + "]".repeat(10_000), undefined],
];

test.each(inputs)("arguments that are %s are read", (_situation, text, input = text) => {
  const [message] = promptOf([assistant(call("a", { arguments: text }))]);
  expect(message?.content).toEqual([{ ...toolCall("a"), input }]);
});
