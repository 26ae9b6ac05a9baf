import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { type Conversation, givenOf, type ProviderOptions, type Tool } from "./conversation.ts";
import { toPrompt } from "./to-prompt.ts";

/** The APIs of services that reply. */
export type UpstreamType = "gateway" | "openai-chat" | "openai-responses" | "anthropic";

/** Converts a conversation to the call of a language model behind an upstream. */
export function toCallOptions(
  { messages, tools, toolChoice, format, settings, ...conversation }: Conversation,
  upstreamType: UpstreamType,
): LanguageModelV4CallOptions {
  const { strict = null, ...named } = format ?? {};
  return {
    // OpenAI's chat API takes results of text only.
    prompt: toPrompt(messages, { isTextOnly: upstreamType === "openai-chat" }),
    ...settings,
    ...(tools.length > 0 && { tools: tools.map(toFunctionTool) }),
    ...(tools.length > 0 && toolChoice !== null && { toolChoice }),
    ...(format !== null && { responseFormat: { type: "json", ...givenOf(named) } }),
    providerOptions: toProviderOptions(conversation.providerOptions, strict, upstreamType),
  };
}

function toFunctionTool({ name, parameters, description, strict, providerOptions }: Tool) {
  return {
    type: "function" as const,
    name,
    inputSchema: parameters,
    ...givenOf({ description, strict }),
    ...(providerOptions && { providerOptions }),
  };
}

function toProviderOptions(
  given: ProviderOptions,
  strict: boolean | null,
  upstreamType: UpstreamType,
): ProviderOptions {
  const strictly = strict === null ? {} : { strictJsonSchema: strict };
  if (upstreamType === "openai-chat") {
    const isSerial = given["openai"]?.["parallelToolCalls"] === false;
    const named = { ...strictly, ...(isSerial && { parallel_tool_calls: false }) };
    return { ...given, [openAiChatProvider]: { ...named, ...given[openAiChatProvider] } };
  }
  // Unless a reply is stored, OpenAI sends its reasoning encrypted, for the client to repeat.
  return { ...given, openai: { store: false, ...strictly, ...given["openai"] } };
}

/** The provider's name in the options and metadata of upstreams of the type `openai-chat`. */
export const openAiChatProvider = "upstream";
