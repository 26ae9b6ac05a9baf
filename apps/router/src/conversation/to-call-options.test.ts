import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import type { Conversation } from "./conversation.ts";
import { toCallOptions } from "./to-call-options.ts";

const empty: Conversation = {
  messages: [],
  tools: [],
  toolChoice: null,
  format: null,
  settings: {},
  providerOptions: {},
};

const cached = { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } };

test("tools, form and settings are named as in the specification of language models", () => {
  const tool = { name: "look", description: null, parameters: { type: "object" }, strict: true };
  const conversation: Conversation = {
    ...empty,
    tools: [{ ...tool, ...cached }],
    toolChoice: { type: "tool", toolName: "look" },
    format: { name: "answer", description: null, schema: { type: "object" }, strict: false },
    settings: { temperature: 0, stopSequences: ["."], reasoning: "low" },
    providerOptions: { openai: { parallelToolCalls: false }, gateway: { user: "u" } },
  };
  const inputSchema = { type: "object" };
  const expected: LanguageModelV4CallOptions = {
    prompt: [],
    tools: [
      { type: "function", name: "look", inputSchema: { type: "object" }, strict: true, ...cached },
    ],
    toolChoice: { type: "tool", toolName: "look" },
    responseFormat: { type: "json", name: "answer", schema: inputSchema as { type: "object" } },
    temperature: 0,
    stopSequences: ["."],
    reasoning: "low",
    providerOptions: {
      openai: { store: false, strictJsonSchema: false, parallelToolCalls: false },
      gateway: { user: "u" },
    },
  };
  expect(toCallOptions(conversation, "gateway")).toEqual(expected);
  expect(toCallOptions(conversation, "openai-chat").providerOptions).toEqual({
    ...conversation.providerOptions,
    upstream: { strictJsonSchema: false, parallel_tool_calls: false },
  });
});

test("without tools there is no tool choice", () => {
  const options = toCallOptions({ ...empty, toolChoice: { type: "none" } }, "anthropic");
  expect(Object.keys(options)).toEqual(["prompt", "providerOptions"]);
});
