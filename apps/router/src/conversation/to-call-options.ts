import { unescape } from "node:querystring";
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultOutput,
} from "@ai-sdk/provider";
import {
  type Conversation,
  withoutUndefined,
  type Message,
  type Part,
  type ProviderOptions,
  findText,
  type Tool,
  type ToolCallPart,
  type ToolResultPart,
} from "./conversation.ts";
import { openAiChatProvider, type UpstreamType, upstreamTypes } from "./upstream-types.ts";

/** Converts a conversation to the call of a language model behind an upstream. */
export function toCallOptions(
  { messages, tools, toolChoice, format, settings, ...conversation }: Conversation,
  upstreamType: UpstreamType,
): LanguageModelV4CallOptions {
  const { strict = null, ...schemaFields } = format ?? {};
  return {
    prompt: toPrompt(messages, { isTextOnly: upstreamTypes[upstreamType].hasTextResults }),
    ...settings,
    ...(tools.length > 0 && { tools: tools.map(toFunctionTool) }),
    ...(tools.length > 0 && toolChoice !== null && { toolChoice }),
    ...(format !== null && { responseFormat: { type: "json", ...withoutUndefined(schemaFields) } }),
    providerOptions: toProviderOptions(conversation.providerOptions, strict, upstreamType),
  };
}

/** Returns the setting that a translation loses and that changes the reply; null for none. */
export function lostSetting(
  { settings, format }: Pick<Conversation, "settings" | "format">,
  upstreamType: UpstreamType,
  model: string,
): "stopSequences" | "responseFormat" | null {
  const { stopSequences = [] } = settings;
  if (stopSequences.length === 0 && format === null) return null;
  const modelMaker = upstreamTypes[upstreamType].makerOf(model);
  if (modelMaker === "openai" && stopSequences.length > 0) return "stopSequences";
  const lacksSchema = modelMaker === "anthropic" && format !== null && !format.schema;
  return lacksSchema ? "responseFormat" : null;
}

function toFunctionTool({ name, parameters, description, strict, providerOptions }: Tool) {
  return {
    type: "function" as const,
    name,
    inputSchema: parameters,
    ...withoutUndefined({ description, strict }),
    ...(providerOptions && { providerOptions }),
  };
}

function toProviderOptions(
  givenProviderOptions: ProviderOptions,
  strict: boolean | null,
  upstreamType: UpstreamType,
): ProviderOptions {
  const strictly = strict === null ? {} : { strictJsonSchema: strict };
  if (upstreamTypes[upstreamType].providerName === openAiChatProvider) {
    const isSerial = givenProviderOptions["openai"]?.["parallelToolCalls"] === false;
    const namedFields = { ...strictly, ...(isSerial && { parallel_tool_calls: false }) };
    return {
      ...givenProviderOptions,
      [openAiChatProvider]: { ...namedFields, ...givenProviderOptions[openAiChatProvider] },
    };
  }
  // Unless a reply is stored, OpenAI sends its reasoning encrypted, for the client to repeat.
  return {
    ...givenProviderOptions,
    openai: { store: false, ...strictly, ...givenProviderOptions["openai"] },
  };
}

/**
 * Converts messages to the prompt of a language model. Each result follows its call directly, and
 * the user's other parts follow the results; so do images of results if those are text only.
 */
export function toPrompt(
  messages: readonly Message[],
  { isTextOnly }: { readonly isTextOnly: boolean },
): LanguageModelV4Prompt {
  const resultOf = matchResults(messages);
  const matchedResults = new Set(resultOf.values());
  const begin = messages.findIndex(({ role }) => role !== "system");
  return messages.flatMap(({ role, parts }, at): LanguageModelV4Message[] => {
    if (role === "system" && begin !== -1 && at > begin) return toUserMessage(parts.map(toNote));
    if (role === "system") return toSystemMessages(parts.filter(isContent), isTextOnly);
    const results = parts.flatMap((part): Result[] => {
      if (part.type === "toolCall") return [[part, resultOf.get(part) ?? interruption]];
      const isAlone = part.type === "toolResult" && !matchedResults.has(part);
      return isAlone ? [[{ id: part.id, name: "" }, part]] : [];
    });
    const resultMessages = results.length > 0 ? toResultMessages(results, isTextOnly) : [];
    if (role === "user") return [...resultMessages, ...toUserMessage(parts)];
    const content = parts.flatMap((messagePart) => toAssistantPart(messagePart));
    return content.length === 0 ? resultMessages : [{ role, content }, ...resultMessages];
  });
}

type AssistantPart = Extract<LanguageModelV4Message, { role: "assistant" }>["content"][number];

type Result = readonly [call: Pick<ToolCallPart, "id" | "name">, result: ToolResultPart];

const interruption: ToolResultPart = {
  type: "toolResult",
  id: "",
  parts: [{ type: "text", text: "interrupted by the user" }],
  isError: false,
};

/** Finds the nearest result after each call: services may use an id again in a later reply. */
function matchResults(messages: readonly Message[]): Map<ToolCallPart, ToolResultPart> {
  const openResults = new Map<string, ToolResultPart>();
  const resultOf = new Map<ToolCallPart, ToolResultPart>();
  for (const messagePart of messages.flatMap(({ parts }) => parts).toReversed()) {
    if (messagePart.type === "toolResult") openResults.set(messagePart.id, messagePart);
    if (messagePart.type !== "toolCall") continue;
    const openResult = openResults.get(messagePart.id);
    if (openResult !== undefined) resultOf.set(messagePart, openResult);
    openResults.delete(messagePart.id);
  }
  return resultOf;
}

/** Many models take instructions at the beginning only, so later ones become text of the user. */
function toNote(messagePart: Part): Part {
  const text = `<system-reminder>\n${findText([messagePart])}\n</system-reminder>`;
  return { type: "text", text, ...toOptions(messagePart) };
}

/** A message per part keeps the cache marks of the parts; without marks, a chat template gets one. */
function toSystemMessages(parts: readonly Part[], isTextOnly: boolean): LanguageModelV4Message[] {
  if (parts.length === 0) return [];
  if (isTextOnly || parts.every(({ providerOptions }) => providerOptions === undefined)) {
    return [{ role: "system", content: findText(parts) }];
  }
  return parts.map((part) => ({ role: "system", content: findText([part]), ...toOptions(part) }));
}

function toUserMessage(parts: readonly Part[]): LanguageModelV4Message[] {
  const content = parts.filter(isContent).map(toContentPart);
  return content.length === 0 ? [] : [{ role: "user", content }];
}

function toResultMessages(
  results: readonly Result[],
  isTextOnly: boolean,
): LanguageModelV4Message[] {
  const content = results.map(([{ id, name }, result]) => ({
    type: "tool-result" as const,
    toolCallId: id,
    toolName: name,
    output: toOutput(result, isTextOnly),
    ...toOptions(result),
  }));
  const otherParts = results
    .filter(([, result]) => isText(result, isTextOnly))
    .flatMap(([, { parts }]) => parts.filter(({ type }) => type !== "text"));
  return [{ role: "tool", content }, ...toUserMessage(otherParts)];
}

/** Only errors of text are marked as errors. */
function isText({ parts, isError }: ToolResultPart, isTextOnly: boolean): boolean {
  if (isTextOnly || isError) return true;
  return parts.every(({ type, providerOptions }) => type === "text" && !providerOptions);
}

function toOutput(result: ToolResultPart, isTextOnly: boolean): LanguageModelV4ToolResultOutput {
  const { parts, isError } = result;
  if (!isText(result, isTextOnly)) return { type: "content", value: parts.map(toContentPart) };
  return { type: isError ? "error-text" : "text", value: findText(parts) };
}

type ContentPart = ToolResultPart["parts"][number];

/** Whether a part is sent as content: Anthropic refuses an empty text. */
function isContent(part: Part): part is ContentPart {
  return part.type === "text" ? part.text !== "" : part.type === "image" || part.type === "file";
}

function toContentPart(part: ContentPart): LanguageModelV4TextPart | LanguageModelV4FilePart {
  if (part.type === "text") return part;
  const namedFields =
    part.type === "file" && part.filename !== null ? { filename: part.filename } : {};
  const mediaType = part.type === "file" ? part.mediaType : "image/*";
  return { type: "file", ...toFileData(part.url, mediaType), ...namedFields, ...toOptions(part) };
}

/** The bytes of a data: address are passed as base64; `new URL` would copy megabytes. */
function toFileData(
  partUrl: string,
  mediaType: string,
): Pick<LanguageModelV4FilePart, "data" | "mediaType"> {
  if (!/^data:/i.test(partUrl)) return { mediaType, data: { type: "url", url: new URL(partUrl) } };
  const commaIndex = partUrl.indexOf(",");
  const [givenType = "", ...attributes] = partUrl.slice("data:".length, commaIndex).split(";");
  const dataText = partUrl.slice(commaIndex + 1);
  const isBase64 = attributes.at(-1)?.toLowerCase() === "base64";
  const data = isBase64 ? dataText : Buffer.from(unescape(dataText)).toString("base64");
  return { mediaType: givenType || mediaType, data: { type: "data", data } };
}

function toOptions({ providerOptions }: Part) {
  return providerOptions === undefined ? {} : { providerOptions };
}

function toAssistantPart(part: Part): AssistantPart[] {
  if (part.type === "reasoning") return [{ type: part.type, text: part.text, ...toOptions(part) }];
  if (part.type === "toolCall") {
    const { id: toolCallId, name: toolName, arguments: text } = part;
    const input = parsedOrText(text);
    return [{ type: "tool-call", toolCallId, toolName, input, ...toOptions(part) }];
  }
  return isContent(part) ? [toContentPart(part)] : [];
}

/** Text of this length can be nested too deeply for `JSON.stringify`: some thousand levels. */
const DEEP_LENGTH = 2000;

/** Parses arguments, of which none are an empty text; those that are not JSON stay text, as do those too deep to be written again. */
export function parsedOrText(jsonText: string): unknown {
  try {
    const jsonValue: unknown = JSON.parse(jsonText || "{}");
    if (jsonText.length > DEEP_LENGTH) JSON.stringify(jsonValue);
    return jsonValue;
  } catch {
    return jsonText;
  }
}
