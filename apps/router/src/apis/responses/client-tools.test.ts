import { expect, test } from "vitest";
import { responsesApi } from "./responses-api.ts";

const read = (fields: object) => responsesApi.read({ model: "auto", input: "hi", ...fields });

const look = {
  type: "function",
  name: "look",
  description: "Look.",
  parameters: { type: "object" },
};
const lookTool = {
  name: "look",
  description: "Look.",
  parameters: { type: "object" },
  strict: null,
};

test("functions, custom tools and namespaces are functions for the model", () => {
  const format = { type: "grammar", syntax: "lark", definition: "start: /.+/" };
  const patch = { type: "custom", name: "apply_patch", description: "Patch.", format };
  const tools = [
    { ...look, strict: true },
    { type: "custom", name: "run" },
    {
      type: "namespace",
      name: "mcp__disk",
      description: "Tools of the disk.",
      tools: [look],
    },
    { type: "namespace", name: "mcp__old__", tools: [{ type: "function", name: "list" }] },
    { type: "namespace", name: "functions", tools: [patch] },
  ];
  const input = {
    type: "object",
    properties: { input: { type: "string", description: "The whole input as plain text." } },
    required: ["input"],
    additionalProperties: false,
  };
  const description = "The whole input as plain text. Its lark grammar:\nstart: /.+/";
  expect(read({ tools }).conversation.tools).toEqual([
    { ...lookTool, strict: true },
    { name: "run", description: null, parameters: input, strict: null },
    { ...lookTool, name: "mcp__disk__look" },
    {
      ...lookTool,
      name: "mcp__old__list",
      description: null,
      parameters: { type: "object", properties: {} },
    },
    {
      name: "apply_patch",
      description: "Patch.",
      parameters: { ...input, properties: { input: { type: "string", description } } },
      strict: null,
    },
  ]);
});

// Written from Codex's public source: codex-rs/codex-api/src/common.rs and codex-rs/tools/src/tool_spec.rs.
const codexRequest = {
  model: "gpt-5.2-codex",
  instructions: "You are Codex.",
  input: [
    {
      type: "message",
      role: "developer",
      content: [{ type: "input_text", text: "<permissions instructions>" }],
    },
    { type: "message", role: "user", content: [{ type: "input_text", text: "fix the test" }] },
    { type: "reasoning", summary: [], content: null, encrypted_content: "opaque" },
    { type: "function_call", name: "exec_command", arguments: "{}", call_id: "call_1" },
    { type: "function_call_output", call_id: "call_1", output: "ok" },
  ],
  tools: [
    { ...look, name: "exec_command", strict: false },
    {
      type: "custom",
      name: "apply_patch",
      description: "A FREEFORM tool.",
      format: { type: "grammar", syntax: "lark", definition: "start: begin_patch" },
    },
    { type: "web_search", external_web_access: false },
    { type: "tool_search", execution: "client", description: "Search.", parameters: {} },
  ],
  tool_choice: "auto",
  parallel_tool_calls: true,
  reasoning: { effort: "medium", summary: "auto" },
  store: false,
  stream: true,
  include: ["reasoning.encrypted_content"],
  prompt_cache_key: "0199-thread",
  text: { verbosity: "low" },
  client_metadata: { "x-codex-installation-id": "i" },
};

test("Codex's request is supported, and the tools that OpenAI would run are named as unread", () => {
  const { conversation, isStreamed, model, unread, unsupported, body } = read(codexRequest);
  expect({ isStreamed, model, unsupported }).toEqual({
    isStreamed: true,
    model: "gpt-5.2-codex",
    unsupported: null,
  });
  expect(body).toEqual(codexRequest);
  expect(conversation.tools.map(({ name }) => name)).toEqual(["exec_command", "apply_patch"]);
  expect(conversation.messages.map(({ role }) => role)).toEqual([
    "system",
    "user",
    "assistant",
    "user",
  ]);
  expect(unread).toEqual(["client_metadata", "tools.web_search", "tools.tool_search"]);
});
