import { expect, test } from "vitest";
import { readMessagesRequest } from "./messages-request.ts";

const user = { role: "user", content: "hi" };
const cache_control = { type: "ephemeral", ttl: "1h" };
const cached = { providerOptions: { anthropic: { cacheControl: cache_control } } };

function read(fields: object) {
  return readMessagesRequest({ model: "auto", max_tokens: 10, messages: [user], ...fields });
}

const partsOf = (role: string, ...content: object[]) =>
  read({ messages: [{ role, content }] }).conversation.messages[0]?.parts;

test("a request is a conversation, with its cache marks on the same parts", () => {
  const schema = { type: "object", properties: {} };
  const request = read({
    system: [{ type: "text", text: "Be brief.", cache_control }],
    messages: [user, { role: "assistant", content: "Hello." }, { role: "user", content: [] }],
    tools: [
      { name: "look", description: "Looks", input_schema: schema, cache_control },
      { type: "custom", name: "see", input_schema: schema, strict: true },
    ],
    stream: true,
  });
  expect(request).toMatchObject({ model: "auto", isStreamed: true, unread: [], unsupported: null });
  expect(request.conversation).toEqual({
    messages: [
      { role: "system", parts: [{ type: "text", text: "Be brief.", ...cached }] },
      { role: "user", parts: [{ type: "text", text: "hi" }] },
      { role: "assistant", parts: [{ type: "text", text: "Hello." }] },
      { role: "user", parts: [] },
    ],
    tools: [
      { name: "look", description: "Looks", parameters: schema, strict: null, ...cached },
      { name: "see", description: null, parameters: schema, strict: true },
    ],
    toolChoice: null,
    format: null,
    settings: { maxOutputTokens: 10 },
    providerOptions: { anthropic: {} },
  });
});

test("images and documents are parts with an address", () => {
  const pdf = { type: "base64", media_type: "application/pdf", data: "JVBERi0=" };
  const parts = partsOf(
    "user",
    { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw==" } },
    { type: "image", source: { type: "url", url: "https://a.example/b.png" }, cache_control },
    { type: "document", source: pdf, title: "Plan", citations: { enabled: true } },
    { type: "document", source: { type: "url", url: "https://a.example/b.pdf" } },
    { type: "document", source: { type: "text", media_type: "text/plain", data: "Grüße" } },
  );
  const pdfType = { type: "file", mediaType: "application/pdf" };
  expect(parts).toEqual([
    { type: "image", url: "data:image/png;base64,iVBORw==" },
    { type: "image", url: "https://a.example/b.png", ...cached },
    { ...pdfType, url: "data:application/pdf;base64,JVBERi0=", filename: "Plan" },
    { ...pdfType, url: "https://a.example/b.pdf", filename: null },
    {
      type: "file",
      url: "data:text/plain;base64,R3LDvMOfZQ==",
      mediaType: "text/plain",
      filename: null,
    },
  ]);
});

test("thinking keeps its signature and redacted thinking its data", () => {
  const parts = partsOf(
    "assistant",
    { type: "thinking", thinking: "Hm.", signature: "c2ln" },
    { type: "thinking", thinking: "Unsigned.", signature: "" },
    { type: "redacted_thinking", data: "ZGF0YQ" },
    { type: "text", text: "I look.", citations: null },
    { type: "tool_use", id: "toolu_1", name: "look", input: { at: [1] }, cache_control },
  );
  const [type, signature] = ["reasoning", "c2ln"];
  expect(parts).toEqual([
    { type, text: "Hm.", signature, providerOptions: { anthropic: { signature } } },
    { type, text: "Unsigned.", signature: null },
    {
      type,
      text: "",
      signature: "ZGF0YQ",
      providerOptions: { anthropic: { redactedData: "ZGF0YQ" } },
    },
    { type: "text", text: "I look." },
    {
      type: "toolCall",
      id: "toolu_1",
      name: "look",
      arguments: '{"at":[1]}',
      signature: null,
      ...cached,
    },
  ]);
});

test("results are before the other parts of their message, with their images and is_error", () => {
  const image = { type: "image", source: { type: "url", url: "https://a.example/b.png" } };
  const text = { type: "text", text: "<system-reminder>Be brief.</system-reminder>" };
  const result = { type: "tool_result", tool_use_id: "1" };
  const parts = partsOf(
    "user",
    text,
    { ...result, content: [{ type: "text", text: "seen" }, image], cache_control },
    { ...result, tool_use_id: "2", content: "failed", is_error: true },
    { ...result, tool_use_id: "3" },
    { ...result, tool_use_id: "4", content: [{ type: "tool_reference", tool_name: "look" }] },
  );
  const toolResult = { type: "toolResult", isError: false };
  expect(parts).toEqual([
    {
      ...toolResult,
      id: "1",
      parts: [
        { type: "text", text: "seen" },
        { type: "image", url: "https://a.example/b.png" },
      ],
      ...cached,
    },
    { ...toolResult, id: "2", parts: [{ type: "text", text: "failed" }], isError: true },
    { ...toolResult, id: "3", parts: [] },
    { ...toolResult, id: "4", parts: [{ type: "text", text: "look" }] },
    text,
  ]);
});

test("settings are read, and an empty list of stop sequences is none", () => {
  const settings = { temperature: 0, top_p: 0.9, top_k: 5, stop_sequences: ["."] };
  expect(read(settings).conversation.settings).toEqual({
    temperature: 0,
    topP: 0.9,
    topK: 5,
    stopSequences: ["."],
    maxOutputTokens: 10,
  });
  expect(read({ stop_sequences: [] }).conversation.settings).toEqual({ maxOutputTokens: 10 });
});

const thinkings: [fields: object, reasoning: string | undefined, thinking: object | undefined][] = [
  [{}, undefined, undefined],
  [{ thinking: { type: "disabled" } }, undefined, { type: "disabled" }],
  [enabled(4000), "low", { type: "enabled", budgetTokens: 4000 }],
  [enabled(10_000), "medium", { type: "enabled", budgetTokens: 10_000 }],
  [enabled(31_999), "high", { type: "enabled", budgetTokens: 31_999 }],
  [{ thinking: { type: "adaptive", display: "summarized" } }, "medium", undefined],
  [{ thinking: { type: "adaptive" }, output_config: { effort: "max" } }, "xhigh", undefined],
  [{ output_config: { effort: "low" } }, "low", undefined],
  [{ output_config: { effort: "of the future" } }, undefined, undefined],
];

function enabled(budget_tokens: number) {
  return { thinking: { type: "enabled", budget_tokens } };
}

test.each(thinkings)("thinking %j is reasoning %s", (fields, reasoning, thinking) => {
  const { settings, providerOptions } = read(fields).conversation;
  expect(settings.reasoning).toBe(reasoning);
  expect(providerOptions["anthropic"]?.["thinking"]).toEqual(thinking);
});

const choices: [tool_choice: object, toolChoice: object][] = [
  [{ type: "auto" }, { type: "auto" }],
  [{ type: "any" }, { type: "required" }],
  [{ type: "none" }, { type: "none" }],
  [
    { type: "tool", name: "look" },
    { type: "tool", toolName: "look" },
  ],
];

test.each(choices)("the tool choice %j is %j", (tool_choice, toolChoice) => {
  expect(read({ tool_choice }).conversation).toMatchObject({ toolChoice });
  const serial = read({ tool_choice: { ...tool_choice, disable_parallel_tool_use: true } });
  expect(serial.conversation.providerOptions).toEqual({
    anthropic: { disableParallelToolUse: true },
    openai: { parallelToolCalls: false },
  });
});

test("a schema of the reply is read from both of its fields, and the user's id is passed on", () => {
  const [schema, fields] = [{ type: "object" }, { metadata: { user_id: "u" }, cache_control }];
  const format = { type: "json_schema", schema };
  for (const given of [{ output_config: { format } }, { output_format: format }]) {
    const { conversation } = read({ ...given, ...fields });
    expect(conversation.format).toEqual({ name: null, description: null, schema, strict: null });
    expect(conversation.providerOptions).toEqual({
      anthropic: { metadata: { userId: "u" }, cacheControl: cache_control },
    });
  }
});

test("fields of newer clients are accepted and named, and null is no value", () => {
  const newer = {
    context_management: { edits: [{ type: "clear_thinking_20251015" }] },
    service_tier: "auto",
    system: [{ type: "text", text: "a", cache_control: { type: "ephemeral", scope: "global" } }],
  };
  expect(read(newer).unread).toEqual([
    "context_management",
    "service_tier",
    "system.cache_control.scope",
  ]);
  const fields = ["system", "stream", "tools", "tool_choice", "thinking", "temperature", "top_p"];
  const more = [
    "top_k",
    "stop_sequences",
    "metadata",
    "output_config",
    "cache_control",
    "container",
  ];
  const nothing = Object.fromEntries([...fields, ...more].map((field) => [field, null]));
  expect(read(nothing)).toMatchObject({ unread: [], conversation: { messages: [{}], tools: [] } });
});

test("arguments keep a key such as __proto__", () => {
  const input: unknown = JSON.parse('{"__proto__":{"a":1},"b":2}');
  const parts = partsOf("assistant", { type: "tool_use", id: "1", name: "f", input });
  expect(parts).toMatchObject([{ arguments: '{"__proto__":{"a":1},"b":2}' }]);
});
