import { unescape } from "node:querystring";
import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider";
import {
  type FilePart,
  type ImagePart,
  type Message,
  type Part,
  type ProviderOptions,
  type ReasoningPart,
  textOf,
  type TextPart,
  type ToolCallPart,
  type ToolResultPart,
} from "./conversation.ts";

type AssistantPart = Extract<LanguageModelV4Message, { role: "assistant" }>["content"][number];

/**
 * Converts messages to the prompt of a language model. Each result follows its call directly, and
 * the user's other parts follow the results; so do images of results if those are text only.
 */
export function toPrompt(
  messages: readonly Message[],
  { isTextOnly }: { readonly isTextOnly: boolean },
): LanguageModelV4Prompt {
  const resultOf = matchResults(messages);
  const matched = new Set(resultOf.values());
  return messages.flatMap((message): LanguageModelV4Message[] => {
    if (message.role === "system") return toSystemMessages(message.parts, isTextOnly);
    if (message.role === "user") return toUserMessages(message.parts, matched, isTextOnly);
    const results = message.parts
      .filter((part) => part.type === "toolCall")
      .map((call) => toResult(call, resultOf.get(call), isTextOnly));
    const content = message.parts.flatMap((part) => toAssistantPart(part));
    return [{ role: "assistant", content }, ...toResultMessages(results)];
  });
}

/** Finds the nearest result after each call: services may use an id again in a later reply. */
function matchResults(messages: readonly Message[]): Map<ToolCallPart, ToolResultPart> {
  const open = new Map<string, ToolResultPart>();
  const resultOf = new Map<ToolCallPart, ToolResultPart>();
  for (const part of messages.flatMap(({ parts }) => parts).toReversed()) {
    if (part.type === "toolResult") open.set(part.id, part);
    if (part.type !== "toolCall") continue;
    const result = open.get(part.id);
    if (result !== undefined) resultOf.set(part, result);
    open.delete(part.id);
  }
  return resultOf;
}

/** A message per part keeps the cache marks of the parts; without marks, a chat template gets one. */
function toSystemMessages(parts: readonly Part[], isTextOnly: boolean): LanguageModelV4Message[] {
  if (isTextOnly || parts.every(({ providerOptions }) => providerOptions === undefined)) {
    return [{ role: "system", content: textOf(parts) }];
  }
  return parts.map((part) => ({ role: "system", content: textOf([part]), ...optionsOf(part) }));
}

function toUserMessages(
  parts: readonly Part[],
  matched: ReadonlySet<ToolResultPart>,
  isTextOnly: boolean,
): LanguageModelV4Message[] {
  const results = parts
    .filter((part) => part.type === "toolResult")
    .filter((part) => !matched.has(part))
    .map((part) => toResult({ id: part.id, name: "" }, part, isTextOnly));
  const content = parts.flatMap((part) => (isContent(part) ? toContentPart(part) : []));
  return [
    ...toResultMessages(results),
    ...(content.length > 0 ? [{ role: "user" as const, content }] : []),
  ];
}

type ContentPart = TextPart | ImagePart | FilePart;

function isContent(part: Part): part is ContentPart {
  return part.type === "text" || part.type === "image" || part.type === "file";
}

function toContentPart(part: ContentPart): LanguageModelV4TextPart | LanguageModelV4FilePart {
  if (part.type === "text") return { type: "text", text: part.text, ...optionsOf(part) };
  const named = part.type === "file" && part.filename !== null ? { filename: part.filename } : {};
  const mediaType = part.type === "file" ? part.mediaType : "image/*";
  return { type: "file", ...toFileData(part.url, mediaType), ...named, ...optionsOf(part) };
}

/** The bytes of a data: address are passed as base64; `new URL` would copy megabytes. */
function toFileData(
  url: string,
  mediaType: string,
): Pick<LanguageModelV4FilePart, "data" | "mediaType"> {
  if (!/^data:/i.test(url)) return { mediaType, data: { type: "url", url: new URL(url) } };
  const comma = url.indexOf(",");
  const [named = "", ...attributes] = url.slice("data:".length, comma).split(";");
  const text = url.slice(comma + 1);
  const isBase64 = attributes.at(-1)?.toLowerCase() === "base64";
  const data = isBase64 ? text : Buffer.from(unescape(text)).toString("base64");
  return { mediaType: named || mediaType, data: { type: "data", data } };
}

function optionsOf({ providerOptions }: { readonly providerOptions?: ProviderOptions }) {
  return providerOptions === undefined ? {} : { providerOptions };
}

function toAssistantPart(part: Part): AssistantPart[] {
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [toContentPart(part)];
    case "reasoning":
      return [{ type: "reasoning", text: part.text, ...signed(part, reasoningSignatures) }];
    case "toolCall":
      return [toToolCall(part)];
    case "toolResult":
      return [];
    case "image":
    case "file":
    default:
      return [toContentPart(part)];
  }
}

function toToolCall(part: ToolCallPart): LanguageModelV4ToolCallPart {
  const { id: toolCallId, name: toolName, arguments: text } = part;
  const input = parsedOrText(text);
  return { type: "tool-call", toolCallId, toolName, input, ...signed(part, callSignatures) };
}

/** Text of this length can be nested too deeply for `JSON.stringify`, which ends after some thousand levels. */
const DEEP_LENGTH = 2000;

/** Arguments that are not JSON are passed on unchanged, as are those too deep to be written again. */
function parsedOrText(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (text.length > DEEP_LENGTH) JSON.stringify(value);
    return value;
  } catch {
    return text;
  }
}

/** The fields for a signature in each provider's options; a model reads its provider's only. */
const callSignatures = { google: "thoughtSignature", vertex: "thoughtSignature" };
const reasoningSignatures = {
  ...callSignatures,
  anthropic: "signature",
  openai: "reasoningEncryptedContent",
};

/** Adds a signature without its provider's name to the options of every provider. */
function signed(part: ReasoningPart | ToolCallPart, fields: Readonly<Record<string, string>>) {
  const { signature, providerOptions = {} } = part;
  const values = Object.values(providerOptions).flatMap((options) => Object.values(options));
  if (signature === null || values.includes(signature)) return optionsOf(part);
  const added = Object.entries(fields).map(([provider, field]) => {
    return [provider, { ...providerOptions[provider], [field]: signature }];
  });
  return { providerOptions: { ...providerOptions, ...Object.fromEntries(added) } };
}

/** A result with the parts that follow it in a user's message. */
interface Result {
  readonly part: LanguageModelV4ToolResultPart;
  readonly after: readonly ContentPart[];
}

function toResult(
  { id, name }: Pick<ToolCallPart, "id" | "name">,
  result: ToolResultPart | undefined,
  isTextOnly: boolean,
): Result {
  const part = { type: "tool-result" as const, toolCallId: id, toolName: name };
  if (result === undefined) {
    const output = { type: "text" as const, value: "interrupted by the user" };
    return { part: { ...part, output }, after: [] };
  }
  // Only errors of text are marked as errors.
  const isText = isTextOnly || result.isError || result.parts.every(isPlainText);
  const after = isText ? result.parts.filter(({ type }) => type !== "text") : [];
  return { part: { ...part, output: toOutput(result, isText), ...optionsOf(result) }, after };
}

function isPlainText({ type, providerOptions }: ContentPart): boolean {
  return type === "text" && providerOptions === undefined;
}

function toOutput(
  { parts, isError }: ToolResultPart,
  isText: boolean,
): LanguageModelV4ToolResultOutput {
  if (isText) return { type: isError ? "error-text" : "text", value: textOf(parts) };
  return { type: "content", value: parts.map(toContentPart) };
}

function toResultMessages(results: readonly Result[]): LanguageModelV4Message[] {
  if (results.length === 0) return [];
  const content = results.map(({ part }) => part);
  const after = results.flatMap((result) => result.after.map(toContentPart));
  return [
    { role: "tool", content },
    ...(after.length > 0 ? [{ role: "user" as const, content: after }] : []),
  ];
}
