import { expect, test } from "vitest";
import { HttpError } from "../../http-error.ts";
import { readChatRequest } from "./chat-request.ts";

const user = { role: "user", content: "hi" };
const read = (fields: object) => readChatRequest({ model: "auto", messages: [user], ...fields });

const call = { id: "1", type: "function", function: { name: "f", arguments: "{}" } };
const asking = { role: "assistant", content: null, tool_calls: [call] };
const result = { role: "tool", tool_call_id: "1", content: "x" };
const part = (content: object) => ({ messages: [{ role: "user", content: [content] }] });

test.each<[param: string, instead: string, fields: object]>([
  ["messages", "", { messages: [] }],
  ["messages", "", { messages: "hi" }],
  ["model", "", { model: 5 }],
  ["stream", "", { stream: "yes" }],
  ["functions", "use tools", { functions: [{ name: "f" }] }],
  ["function_call", "use tool_choice", { function_call: { name: "f" } }],
  ["messages.0.role", "none of system", { messages: [{ role: "bot", content: "x" }] }],
  [
    "messages.0.tool_call_id",
    "answers no tool call",
    { messages: [{ role: "function", name: "f", content: "x" }] },
  ],
  [
    "messages.0.function_call",
    "use tool_calls",
    { messages: [{ role: "assistant", function_call: "f" }] },
  ],
  ["messages.1.tool_call_id", "answers no tool call", { messages: [user, result] }],
  ["messages.2.tool_call_id", "answers no tool call", { messages: [asking, result, result] }],
  [
    "messages.0.content.0.file.file_data",
    "send the file itself",
    part({ type: "file", file: { file_id: "", filename: "a" } }),
  ],
  [
    "messages.0.content.0.file.file_data",
    "not a data: address",
    part({ type: "file", file: { file_data: "data:text/plain,hi" } }),
  ],
  [
    "messages.0.content.0.image_url.url",
    "neither an https: nor a data:",
    part({ type: "image_url", image_url: { url: "file:///etc/passwd" } }),
  ],
  [
    "messages.0.content.0.image_url.url",
    "neither an https: nor a data:",
    part({ type: "image_url", image_url: { url: "https://" } }),
  ],
])("%s is refused for every upstream, with an alternative: %s", (param, instead, fields) => {
  const reading = () => read(fields);
  expect(reading).toThrow(HttpError);
  expect(reading).toThrow(`This router cannot do this: ${param}: `);
  expect(reading).toThrow(instead);
  expect(reading).toThrow(expect.objectContaining({ status: 400, details: { param } }));
});

test.each<[param: string, instead: string, fields: object]>([
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
    "messages.0.content.0.file.file_data",
    "not a data: address",
    part({ type: "file", file: { file_data: "UEsDBBQAAAA=" } }),
  ],
  [
    "messages.0.content.0.image_url.url",
    "neither an https: nor a data:",
    part({ type: "image_url", image_url: "http://example.com/a.png" }),
  ],
  ["tools.0.type", "only tools of the type function", { tools: [{ type: "custom" }] }],
  ["tool_choice.type", "send only the tools", { tool_choice: { type: "allowed_tools" } }],
  ["response_format.type", "use text, json_object", { response_format: { type: "grammar" } }],
  ["modalities.1", "replies are text", { modalities: ["text", "audio"] }],
  ["audio", "replies are text", { audio: { voice: "v" } }],
  ["web_search_options", "your own tool", { web_search_options: {} }],
  ["logit_bias", "in a message", { logit_bias: { 1: 100 } }],
  ["logprobs", "leave it out", { logprobs: true }],
  ["top_logprobs", "leave it out", { top_logprobs: 3 }],
  ["n", "as often as you want replies", { n: 2 }],
  ["best_of", "as often as you want replies", { best_of: 2 }],
  ["repetition_penalty", "frequency_penalty", { repetition_penalty: 1.2 }],
  ["min_p", "top_p", { min_p: 0.1 }],
  ["top_a", "top_p", { top_a: 0.1 }],
  ["length_penalty", "in a message", { length_penalty: 2 }],
  ["guided_json", "response_format", { guided_json: { type: "object" } }],
  ["temperature", "number", { temperature: "hot" }],
  ["reasoning.effort", "", { reasoning: { effort: "huge" } }],
])("%s is left to an upstream of this API, with an alternative for others: %s", (...row) => {
  const [param, instead, fields] = row;
  const { unsupported, conversation, body } = read(fields);
  expect(unsupported).toMatchObject({ status: 400, details: { param } });
  expect(unsupported?.message).toContain(`This router cannot do this: ${param}: `);
  expect(unsupported?.message).toContain(instead);
  expect(conversation.messages).toHaveLength(1);
  expect(body).toMatchObject(fields);
});

test("values that change nothing pass", () => {
  const nulls = ["temperature", "tools", "stop", "n", "audio", "logit_bias", "web_search_options"];
  const { unsupported, unread, conversation } = read({
    ...Object.fromEntries([...nulls, "reasoning", "metadata"].map((name) => [name, null])),
    best_of: 1,
    min_p: 0,
    top_a: 0,
    repetition_penalty: 1,
    length_penalty: 1,
    logprobs: false,
    top_logprobs: 0,
    grammar: "",
    modalities: ["text"],
    function_call: "auto",
    functions: [],
    store: false,
    verbosity: "chatty",
  });
  expect(unsupported).toBeNull();
  expect(unread).toEqual([]);
  expect(conversation).toEqual({
    messages: [{ role: "user", parts: [{ type: "text", text: "hi" }] }],
    tools: [],
    toolChoice: null,
    format: null,
    settings: {},
    providerOptions: {},
  });
});

test("fields without a place are named", () => {
  const messages = [{ ...user, name: "Ann" }];
  const harmless = { user: "u", metadata: { a: "b" }, store: true, service_tier: "flex" };
  expect(read({ messages, ...harmless, seed: 1 }).unread).toEqual([
    "messages.name",
    "metadata",
    "store",
    "service_tier",
  ]);
});

const everything = {
  model: "auto",
  messages: [
    { role: "developer", content: [{ type: "text", text: "s", cache_control: { type: "e" } }] },
    {
      role: "user",
      content: [
        { type: "image_url", image_url: { url: "https://example.com/a", detail: "low" } },
        { type: "file", file: { file_data: "data:text/plain;base64,aGk=", filename: "a" } },
        { type: "input_audio", input_audio: { data: "aGk=", format: "wav" } },
      ],
    },
    {
      ...asking,
      reasoning_content: "r",
      content: [{ type: "refusal", refusal: "no" }],
      tool_calls: [{ ...call, extra_content: { google: { thought_signature: "s" } } }],
    },
    { ...result, content: [{ type: "text", text: "x" }] },
  ],
  stream: true,
  stream_options: { include_usage: true },
  stop: ["a"],
  seed: 1,
  reasoning: { effort: "low" },
  tools: [{ type: "function", function: { name: "f", parameters: { type: "object" } } }],
  tool_choice: { type: "function", function: { name: "f" } },
  response_format: { type: "json_schema", json_schema: { name: "a", schema: {} } },
  modalities: ["text"],
};

/** Yields the value with each value in it replaced. */
function* replacedEverywhere(value: unknown, other: unknown): Generator {
  yield other;
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    for (const changed of replacedEverywhere(inner, other)) {
      if (Array.isArray(value)) yield value.with(Number(key), changed);
      else yield { ...value, [key]: changed };
    }
  }
}

const nested: unknown = JSON.parse(`${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`);
const polluting: unknown = JSON.parse('{"__proto__":{"type":"text"}}');

test.each([0, 1e308, -1, "", "\ud800", true, null, [], [null], {}, polluting, nested])(
  "%o at any place is read or refused by its path (row %$)",
  (other) => {
    const problems = [...replacedEverywhere(everything, other)].flatMap((body) => {
      try {
        readChatRequest(body);
        return [];
      } catch (error) {
        return error instanceof HttpError && error.status === 400 && error.details.param
          ? []
          : [error];
      }
    });
    expect(problems).toEqual([]);
  },
);

test("a body that is no object is refused as a whole", () => {
  expect(() => readChatRequest("hi")).toThrow("cannot do this: the body: ");
  expect(() => readChatRequest([])).toThrow("cannot do this: the body: ");
});

test("long lists are read in linear time, without a limit of the stack", () => {
  const content = Array.from({ length: 200_000 }, () => ({ type: "text", text: "" }));
  const calls = Array.from({ length: 20_000 }, (_, index) => ({ ...call, id: String(index) }));
  const results = calls.map(({ id }) => ({ ...result, tool_call_id: id }));
  const asked = { ...asking, tool_calls: calls };
  const messages = [asked, ...results, { role: "user", content }];
  expect(read({ messages }).conversation.messages[1]?.parts).toHaveLength(220_000);
});
