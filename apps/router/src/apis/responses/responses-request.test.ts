import { expect, test } from "vitest";
import type { Conversation, Message, Part } from "../../conversation/conversation.ts";
import { responsesApi } from "./responses-api.ts";

const read = (fields: object) => responsesApi.read({ model: "auto", input: "hi", ...fields });
const user = (...parts: Part[]): Message => ({ role: "user", parts });
const assistant = (...parts: Part[]): Message => ({ role: "assistant", parts });
const text = (value: string) => ({ type: "text" as const, text: value });
const said = (content: unknown) => ({ input: [{ role: "user", content }] });

const call = { type: "function_call", call_id: "call_1", name: "look", arguments: '{"at":1}' };
const output = { type: "function_call_output", call_id: "call_1", output: "seen" };
const toolCall = {
  type: "toolCall" as const,
  id: "call_1",
  name: "look",
  arguments: '{"at":1}',
  signature: null,
};
const result = (...parts: (Part & { type: "text" | "image" })[]) => ({
  type: "toolResult" as const,
  id: "call_1",
  parts,
  isError: false,
});
const image = { type: "image" as const, url: "data:image/png;base64,aGk=" };
const inputImage = { type: "input_image", image_url: image.url };

const conversations: [situation: string, fields: object, messages: Message[]][] = [
  ["a text", {}, [user(text("hi"))]],
  [
    "instructions before every role",
    {
      instructions: "Be brief.",
      input: [
        { role: "developer", content: "one" },
        { type: "message", role: "system", content: [{ type: "input_text", text: "two" }] },
        { role: "user", content: "three" },
        {
          id: "msg_1",
          role: "assistant",
          content: [
            { type: "output_text", text: "four", annotations: [], logprobs: [] },
            { type: "refusal", refusal: "no" },
          ],
        },
      ],
    },
    [
      { role: "system", parts: [text("Be brief."), text("one"), text("two")] },
      user(text("three")),
      assistant(text("four"), text("no")),
    ],
  ],
  [
    "images, files and audio",
    said([
      inputImage,
      { type: "input_image", image_url: "https://example.com/a.png", detail: "high" },
      { type: "input_file", file_data: "data:text/plain;base64,aGk=", filename: "a.txt" },
      { type: "input_file", file_url: "https://example.com/a.pdf" },
      { type: "input_audio", input_audio: { data: "aGk=", format: "mp3" } },
    ]),
    [
      user(
        image,
        {
          type: "image",
          url: "https://example.com/a.png",
          providerOptions: { openai: { imageDetail: "high" } },
        },
        {
          type: "file",
          url: "data:text/plain;base64,aGk=",
          mediaType: "text/plain",
          filename: "a.txt",
        },
        {
          type: "file",
          url: "https://example.com/a.pdf",
          mediaType: "application/pdf",
          filename: null,
        },
        {
          type: "file",
          url: "data:audio/mpeg;base64,aGk=",
          mediaType: "audio/mpeg",
          filename: null,
        },
      ),
    ],
  ],
  [
    "a step of tools, with an image in a result, and a message after it",
    {
      input: [
        { type: "reasoning", summary: [{ type: "summary_text", text: "hm" }], content: null },
        { role: "assistant", content: "I look." },
        call,
        { ...call, call_id: "call_2" },
        { ...output, output: [{ type: "input_text", text: "seen" }, inputImage] },
        { ...output, call_id: "call_2", output: [] },
        { role: "user", content: "go on" },
        { role: "user", content: "please" },
      ],
    },
    [
      assistant({ type: "reasoning", text: "hm", signature: null }, text("I look."), toolCall, {
        ...toolCall,
        id: "call_2",
      }),
      user(result(text("seen"), image), { ...result(), id: "call_2" }, text("go on")),
      user(text("please")),
    ],
  ],
  [
    "an interrupted call",
    { input: [call, { role: "user", content: "stop" }] },
    [assistant(toolCall), user(text("stop"))],
  ],
  [
    "a custom tool's call, and one in a namespace",
    {
      input: [
        { type: "custom_tool_call", call_id: "call_1", name: "apply_patch", input: "*** Begin\n" },
        { type: "custom_tool_call_output", call_id: "call_1", output: "seen" },
        { ...call, namespace: "mcp__disk" },
      ],
    },
    [
      assistant({ ...toolCall, name: "apply_patch", arguments: '{"input":"*** Begin\\n"}' }),
      user(result(text("seen"))),
      assistant({ ...toolCall, name: "mcp__disk__look" }),
    ],
  ],
  [
    "reasoning of OpenAI with and without its id, and of other models",
    {
      input: [
        { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "opaque" },
        { type: "reasoning", id: "reasoning_1", summary: [], encrypted_content: "gAAAAopaque" },
        {
          type: "reasoning",
          id: "reasoning_2",
          summary: [{ type: "summary_text", text: "short" }],
          content: [
            { type: "reasoning_text", text: "one" },
            { type: "reasoning_text", text: "two" },
          ],
          encrypted_content: "sig",
        },
      ],
    },
    [
      assistant(
        {
          type: "reasoning",
          text: "",
          signature: "opaque",
          providerOptions: { openai: { itemId: "rs_1", reasoningEncryptedContent: "opaque" } },
        },
        {
          type: "reasoning",
          text: "",
          signature: "gAAAAopaque",
          providerOptions: { openai: { reasoningEncryptedContent: "gAAAAopaque" } },
        },
        { type: "reasoning", text: "one\n\ntwo", signature: "sig" },
      ),
    ],
  ],
];

test.each(conversations)("%s is read", (_situation, fields, messages) => {
  const { conversation, unsupported } = read(fields);
  expect(conversation.messages).toEqual(messages);
  expect(unsupported).toBeNull();
});

const schema = { type: "object", properties: {} };
const settings: [situation: string, fields: object, read: Partial<Conversation>][] = [
  [
    "sampling and limits",
    { temperature: 0, top_p: 0.5, max_output_tokens: 9, reasoning: { effort: "max" } },
    { settings: { temperature: 0, topP: 0.5, maxOutputTokens: 9, reasoning: "xhigh" } },
  ],
  ["null everywhere", { temperature: null, text: null, tools: null, reasoning: null }, {}],
  [
    "a choice",
    { tool_choice: "required", tools: [{ type: "function", name: "look" }] },
    { toolChoice: { type: "required" } },
  ],
  [
    "a chosen tool",
    { tool_choice: { type: "function", name: "look" } },
    { toolChoice: { type: "tool", toolName: "look" } },
  ],
  [
    "one call at a time",
    { parallel_tool_calls: false },
    {
      providerOptions: {
        openai: { parallelToolCalls: false },
        anthropic: { disableParallelToolUse: true },
      },
    },
  ],
  [
    "any JSON",
    { text: { format: { type: "json_object" } } },
    { format: { name: null, description: null, schema: null, strict: null } },
  ],
  [
    "JSON of a schema",
    { text: { format: { type: "json_schema", name: "film", schema, strict: true } } },
    { format: { name: "film", description: null, schema, strict: true } },
  ],
  ["text", { text: { format: { type: "text" } } }, { format: null }],
  [
    "verbosity, summaries, the cache's key and the user",
    {
      text: { verbosity: "low" },
      reasoning: { summary: "auto" },
      prompt_cache_key: "k",
      user: "u",
    },
    {
      providerOptions: {
        openai: { textVerbosity: "low", reasoningSummary: "auto", promptCacheKey: "k" },
        gateway: { user: "u" },
      },
    },
  ],
];

test.each(settings)("settings are read: %s", (_situation, fields, expected) => {
  const { conversation, unsupported } = read(fields);
  const { messages: _, tools: __, ...rest } = conversation;
  const empty = { toolChoice: null, format: null, settings: {}, providerOptions: {} };
  expect(rest).toEqual({ ...empty, ...expected });
  expect(unsupported).toBeNull();
});
