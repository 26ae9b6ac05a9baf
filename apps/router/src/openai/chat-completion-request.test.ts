import { expect, test } from "vitest";
import { HttpError } from "../http-error.ts";
import { parseChatCompletionRequest } from "./chat-completion-request.ts";

const user = { role: "user", content: "hi" };

function parse(fields: object) {
  return parseChatCompletionRequest({ model: "auto", messages: [user], ...fields });
}

const call = { id: "1", type: "function", function: { name: "f", arguments: "{}" } };
const part = (content: object) => ({ messages: [{ role: "user", content: [content] }] });

const result = { role: "tool", tool_call_id: "1", content: "x" };
const asking = { role: "assistant", content: null, tool_calls: [call] };

const impossible: [param: string, instead: string, fields: object][] = [
  ["tools.0.type", "only tools of the type function", { tools: [{ type: "custom" }] }],
  ["functions", "use tools", { functions: [{ name: "f" }] }],
  ["function_call", "use tool_choice", { function_call: { name: "f" } }],
  ["tool_choice.type", "send only the tools", { tool_choice: { type: "allowed_tools" } }],
  ["response_format.type", "use text, json_object", { response_format: { type: "grammar" } }],
  ["modalities.1", "replies are text", { modalities: ["text", "audio"] }],
  ["audio", "replies are text", { audio: { voice: "v" } }],
  ["web_search_options", "your own tool", { web_search_options: {} }],
  ["logit_bias", "ask in a message", { logit_bias: { 1: 100 } }],
  ["logprobs", "leave it out", { logprobs: true }],
  ["top_logprobs", "leave it out", { top_logprobs: 3 }],
  ["verbosity", "ask in a message", { verbosity: "low" }],
  ["n", "as often as you want replies", { n: 2 }],
  ["temperature", "number", { temperature: "hot" }],
  ["messages", "", { messages: [] }],
  ["messages.1.tool_call_id", "answers no tool call", { messages: [user, result] }],
  ["messages.0.tool_calls", "a message with the role tool", { messages: [asking] }],
  ["messages.0.tool_calls", "a message with the role tool", { messages: [asking, user] }],
  ["messages.0.role", "none of system", { messages: [{ role: "function", content: "x" }] }],
  [
    "messages.0.content.0.input_audio.format",
    "neither wav nor mp3",
    part({ type: "input_audio", input_audio: { data: "aGk=", format: "ogg" } }),
  ],
  [
    "messages.0.content.0.file.file_data",
    "send the file itself",
    part({ type: "file", file: { file_id: "file-1" } }),
  ],
  [
    "messages.0.content.0.image_url.url",
    "https or data",
    part({ type: "image_url", image_url: { url: "file:///etc/passwd" } }),
  ],
];

test.each(impossible)("%s is rejected by its path, with an alternative: %s", (...row) => {
  const [param, instead, fields] = row;
  const parsing = () => parse(fields);
  expect(parsing).toThrow(HttpError);
  expect(parsing).toThrow(`This router cannot do this: ${param}: `);
  expect(parsing).toThrow(instead);
  expect(parsing).toThrow(expect.objectContaining({ status: 400, details: { param } }));
});

test("a body that is no object is rejected as a whole", () => {
  expect(() => parseChatCompletionRequest("hi")).toThrow("cannot do this: the body: ");
});

test("tool calls with their results, parallel ones too, are a conversation", () => {
  const second = { ...call, id: "2" };
  const both = [{ ...result, tool_call_id: "2" }, result];
  const messages = [user, { ...asking, tool_calls: [call, second] }, ...both, user];
  expect(parse({ messages }).request.messages).toHaveLength(5);
});

test("what asks for nothing special is taken, and is nobody's loss", () => {
  const empty = { tools: [], logit_bias: {}, audio: null, tool_choice: "auto", n: 1, stop: null };
  expect(parse({ ...empty, store: false, metadata: {} }).unknown).toEqual([]);
});

test("what changes no reply and is not read is named, wherever it stands", () => {
  const named = {
    messages: [
      { ...user, name: "Ann", "x\r\ny": 1 },
      { ...user, name: "Bob" },
    ],
  };
  const harmless = { user: "u", metadata: { a: "b" }, store: true, service_tier: "flex" };
  expect(parse({ ...named, ...harmless, seed: 1 }).unknown).toEqual([
    "messages.name",
    "messages.unprintable",
    "metadata",
    "store",
    "service_tier",
  ]);
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}`, 1]));
  expect(parse(many).unknown.at(-1)).toBe("and-10-more");
});
