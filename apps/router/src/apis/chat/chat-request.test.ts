import { expect, test } from "vitest";
import { readChatRequest } from "./chat-request.ts";

const user = { role: "user", content: "hi" };
const read = (fields: object) => readChatRequest({ model: "auto", messages: [user], ...fields });
const messagesOf = (...messages: object[]) => read({ messages }).conversation.messages;

const call = { id: "1", type: "function", function: { name: "f", arguments: "{}" } };
const asking = { role: "assistant", content: null, tool_calls: [call] };
const result = { role: "tool", tool_call_id: "1", content: "x" };
test("settings, tools and the form of the reply are read", () => {
  const parameters = { type: "object", properties: { a: { type: "string" } } };
  const cache_control = { type: "ephemeral" };
  const schema = { type: "object" };
  const { isStreamed, conversation } = read({
    stream: true,
    temperature: 0.5,
    top_p: 0.9,
    top_k: 40,
    presence_penalty: 1,
    frequency_penalty: -1,
    seed: 7,
    stop: "END",
    max_tokens: 10,
    max_completion_tokens: 20,
    reasoning_effort: "max",
    verbosity: "low",
    user: "u",
    parallel_tool_calls: false,
    tools: [
      { type: "function", function: { name: "f", parameters, strict: true }, cache_control },
      { type: "function", function: { name: "g", description: "G" } },
    ],
    tool_choice: { type: "function", function: { name: "f" } },
    response_format: { type: "json_schema", json_schema: { name: "answer", schema } },
  });
  expect(isStreamed).toBe(true);
  expect(conversation).toMatchObject({
    tools: [
      {
        name: "f",
        description: null,
        parameters,
        strict: true,
        providerOptions: { anthropic: { cacheControl: cache_control } },
      },
      { name: "g", description: "G", parameters: { type: "object", properties: {} }, strict: null },
    ],
    toolChoice: { type: "tool", toolName: "f" },
    format: { name: "answer", description: null, schema, strict: null },
    settings: {
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      presencePenalty: 1,
      frequencyPenalty: -1,
      seed: 7,
      stopSequences: ["END"],
      maxOutputTokens: 20,
      reasoning: "xhigh",
    },
    providerOptions: {
      gateway: { user: "u" },
      openai: { textVerbosity: "low", parallelToolCalls: false },
      anthropic: { disableParallelToolUse: true },
    },
  });
  expect(read({ reasoning: { effort: "low" } }).conversation.settings).toEqual({
    reasoning: "low",
  });
  expect(read({ response_format: { type: "json_object" } }).conversation.format).toEqual({
    name: null,
    description: null,
    schema: null,
    strict: null,
  });
});

test("results directly follow their calls, and belong to the user's next message", () => {
  const second = { ...call, id: "2" };
  const results = [{ ...result, tool_call_id: "2" }, result];
  const messages = messagesOf(user, { ...asking, tool_calls: [call, second] }, ...results, user);
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  expect(messages[2]?.parts).toEqual([
    { type: "toolResult", id: "2", parts: [{ type: "text", text: "x" }], isError: false },
    { type: "toolResult", id: "1", parts: [{ type: "text", text: "x" }], isError: false },
    { type: "text", text: "hi" },
  ]);
});

test("a call without a result is a conversation, and an empty list of calls is no call", () => {
  const said = { role: "assistant", content: "ok", tool_calls: [] };
  const blank = { ...asking, content: " " };
  const messages = messagesOf(user, blank, user, said);
  expect(messages.map(({ parts }) => parts.map(({ type }) => type))).toEqual([
    ["text"],
    ["toolCall"],
    ["text"],
    ["text"],
  ]);
});

test("reasoning comes before the text, and a call keeps its signature", () => {
  const signed = { ...call, extra_content: { google: { thought_signature: "c2ln" } } };
  const message = { ...asking, reasoning_content: "Hm.", content: "Let me look." };
  const [first] = messagesOf({ ...message, tool_calls: [signed] });
  expect(first?.parts).toEqual([
    { type: "reasoning", text: "Hm.", signature: null },
    { type: "text", text: "Let me look." },
    {
      type: "toolCall",
      id: "1",
      name: "f",
      arguments: "{}",
      signature: "c2ln",
      providerOptions: { google: { thoughtSignature: "c2ln" } },
    },
  ]);
  const [other] = messagesOf({ role: "assistant", content: null, reasoning: "Hm.", refusal: "No" });
  expect(other?.parts).toEqual([
    { type: "reasoning", text: "Hm.", signature: null },
    { type: "text", text: "No" },
  ]);
});

test("a call of a custom tool keeps its input", () => {
  const custom = { id: "1", type: "custom", custom: { name: "apply_patch", input: "*** Begin" } };
  const [message] = messagesOf({ role: "assistant", tool_calls: [custom] }, result);
  expect(message?.parts).toMatchObject([{ name: "apply_patch", arguments: "*** Begin" }]);
});

test("images, audio and files are kept, in results of tools too", () => {
  const content = [
    { type: "text", text: "see" },
    { type: "image_url", image_url: { url: "https://example.com/a.png", detail: "low" } },
    { type: "input_audio", input_audio: { data: "aGk=", format: "mp3" } },
    { type: "file", file: { file_data: "data:application/pdf;base64,aGk=", filename: "a.pdf" } },
  ];
  const parts = [
    { type: "text", text: "see" },
    {
      type: "image",
      url: "https://example.com/a.png",
      providerOptions: { openai: { imageDetail: "low" } },
    },
    {
      type: "file",
      url: "data:audio/mpeg;base64,aGk=",
      mediaType: "audio/mpeg",
      filename: null,
    },
    {
      type: "file",
      url: "data:application/pdf;base64,aGk=",
      mediaType: "application/pdf",
      filename: "a.pdf",
    },
  ];
  expect(messagesOf({ role: "user", content })).toEqual([{ role: "user", parts }]);
  const [, results] = messagesOf(asking, { ...result, content });
  expect(results?.parts).toEqual([{ type: "toolResult", id: "1", parts, isError: false }]);
});

test("a mark for the cache stays on its part; a message's mark is on its last part", () => {
  const cache_control = { type: "ephemeral", ttl: "1h" };
  const providerOptions = { anthropic: { cacheControl: cache_control } };
  const image = { type: "image_url", image_url: { url: "https://example.com/a", detail: "low" } };
  const content = [{ type: "text", text: "a", cache_control }, image];
  const messages = messagesOf(
    { role: "system", content: "s", cache_control },
    { role: "user", content, cache_control },
    asking,
    { ...result, cache_control },
  );
  expect(messages.map(({ parts }) => parts.map((part) => part.providerOptions))).toEqual([
    [providerOptions],
    [providerOptions, { ...providerOptions, openai: { imageDetail: "low" } }],
    [undefined],
    [providerOptions],
  ]);
});
