import { expect, test } from "vitest";
import { HttpError } from "../http-error.ts";
import { parseChatCompletionRequest } from "./chat-completion-request.ts";

const user = { role: "user", content: "hi" };

function parse(fields: object) {
  return parseChatCompletionRequest({ model: "auto", messages: [user], ...fields });
}

const call = { id: "1", type: "function", function: { name: "f", arguments: "{}" } };
const part = (content: object) => ({ messages: [{ role: "user", content: [content] }] });

const impossible: [param: string, fields: object][] = [
  ["tools", { tools: [{ type: "function", function: { name: "f" } }] }],
  ["functions", { functions: [{ name: "f" }] }],
  ["tool_choice", { tool_choice: "required" }],
  ["function_call", { function_call: { name: "f" } }],
  ["response_format.type", { response_format: { type: "json_object" } }],
  ["modalities.1", { modalities: ["text", "audio"] }],
  ["web_search_options", { web_search_options: {} }],
  ["logit_bias", { logit_bias: { 1: 100 } }],
  ["logprobs", { logprobs: true }],
  ["verbosity", { verbosity: "low" }],
  ["n", { n: 2 }],
  ["temperature", { temperature: "hot" }],
  ["messages", { messages: [] }],
  ["messages.1.role", { messages: [user, { role: "tool", content: "x", tool_call_id: "1" }] }],
  ["messages.0.content", { messages: [{ role: "assistant", content: null, tool_calls: [call] }] }],
  ["messages.0.content", part({ type: "input_audio", input_audio: { data: "", format: "mp3" } })],
  [
    "messages.0.content.0.image_url.url",
    part({ type: "image_url", image_url: { url: "file:///etc/passwd" } }),
  ],
];

test.each(impossible)("%s that would change the reply is refused by name: %j", (param, fields) => {
  const parsing = () => parse(fields);
  expect(parsing).toThrow(HttpError);
  expect(parsing).toThrow(`This router cannot do this: ${param}: `);
  expect(parsing).toThrow(expect.objectContaining({ status: 400, details: { param } }));
});

test("a body that is no object is refused as a whole", () => {
  expect(() => parseChatCompletionRequest("hi")).toThrow("cannot do this: the body: ");
});

test("what asks for nothing special, or changes no reply, is taken", () => {
  const empty = { tools: [], logit_bias: {}, audio: null, tool_choice: "auto", n: 1, stop: null };
  const harmless = { user: "u", metadata: { a: "b" }, store: false, prediction: null, seed: 1 };
  expect(parse({ ...empty, ...harmless })).toMatchObject({ model: "auto", seed: 1 });
});
