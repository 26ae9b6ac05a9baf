import { z } from "zod";
import { isJsonRecord } from "../json.ts";
import { estimateTextTokens } from "../questions/tokens.ts";
import {
  argumentPieces,
  chooseCalls,
  fillSchema,
  type PlayedCall,
  type ReplyShape,
  valuesIn,
} from "./shaped-reply.ts";

/** A reply, before it is sent whole or in parts. */
interface Reply {
  /** Empty where tools are called. */
  readonly text: string;
  readonly calls: readonly PlayedCall[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The words of the message, or nothing but what was asked. */
  readonly basis: "lexical" | "none";
}

/** What a reply is made with. */
interface ReplyMaterial {
  /** The conversation, in the AI SDK's form or in OpenAI's. */
  readonly prompt: unknown;
  readonly shape: ReplyShape;
  readonly nextId: () => string;
}

/** Returns the reply to a conversation, or null when it is none. */
export function composeReply({ prompt, shape, nextId }: ReplyMaterial): Reply | null {
  const read = promptText(prompt);
  if (read === null) return null;
  const { lastUserText, toolText, allText } = read;
  const calls = toolText === null ? chooseCalls(lastUserText, shape, nextId) : [];
  const text = calls.length > 0 ? "" : composeText(read, shape);
  return {
    text,
    calls,
    inputTokens: estimateTextTokens(allText),
    outputTokens: estimateTextTokens(text + calls.map(({ input }) => input).join("")),
    basis: calls.length > 0 || shape.json !== null ? "lexical" : "none",
  };
}

function composeText({ lastUserText, toolText }: PromptText, { json }: ReplyShape): string {
  const said = toolText === null ? replyText(lastUserText) : toolReplyText(toolText);
  if (json === null) return said;
  if (Object.keys(json).length === 0) return JSON.stringify({ reply: said });
  const message = toolText ?? lastUserText;
  return JSON.stringify(fillSchema(json, { message, hints: valuesIn(message) }));
}

const messageSchema = z.object({
  role: z.string(),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]).nullish(),
});
const promptSchema = z.array(messageSchema).min(1);

/** What a prompt says. */
interface PromptText {
  /** The text of the last user message. */
  readonly lastUserText: string;
  /** What the tools answered to whose calls the prompt ends with; null where it ends otherwise. */
  readonly toolText: string | null;
  /** All text of the prompt, for counting tokens. */
  readonly allText: string;
}

/** Returns the text of a prompt in the AI SDK's form, or null when it is not one. */
export function promptText(prompt: unknown): PromptText | null {
  const { data: messages } = promptSchema.safeParse(prompt);
  if (messages === undefined) return null;
  const lastUser = messages.findLast(({ role }) => role === "user");
  const results = messages.slice(messages.findLastIndex(({ role }) => role !== "tool") + 1);
  return {
    lastUserText: lastUser === undefined ? "" : textOf(lastUser),
    toolText: results.length === 0 ? null : results.map(textOf).join("\n"),
    allText: messages.map(textOf).join("\n"),
  };
}

function textOf({ content }: z.infer<typeof messageSchema>): string {
  if (typeof content === "string") return content;
  return (content ?? [])
    .map(textOfPart)
    .filter((text) => text !== "")
    .join("\n");
}

/** A text, or what a tool answered (language model specification v4). */
function textOfPart({ text, output }: Record<string, unknown>): string {
  if (typeof text === "string") return text;
  const value = isJsonRecord(output) ? output["value"] : undefined;
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

const longestEcho = 200;

/** Returns the reply of the emulator's text models: says what it is, and what it was asked. */
export function replyText(question: string): string {
  return `${origin} You asked: "${shortened(question)}"`;
}

/** Returns the reply to what tools answered. */
function toolReplyText(results: string): string {
  return `${origin} The tools answered: "${shortened(results)}"`;
}

const origin = "This reply comes from the local emulator, not from a language model.";

function shortened(text: string): string {
  const characters = Array.from(text.trim());
  const rest = characters.length > longestEcho ? "…" : "";
  return characters.slice(0, longestEcho).join("") + rest;
}

/** Who replied, and when. */
interface ReplyMetadata {
  readonly id: string;
  readonly modelId: string;
  /** ISO 8601. */
  readonly timestamp: string;
}

/** Returns the body of a whole reply (language model specification v4). */
export function wholeReply(reply: Reply, response: ReplyMetadata, gatewayMetadata: object) {
  const calls = reply.calls.map(toToolCall);
  return {
    content: calls.length > 0 ? calls : [{ type: "text", text: reply.text }],
    ...replyEnd(reply, gatewayMetadata),
    response,
    warnings: [],
  };
}

function toToolCall({ id: toolCallId, name: toolName, input }: PlayedCall) {
  return { type: "tool-call", toolCallId, toolName, input };
}

/** Returns the stream parts of a reply, word by word (language model specification v4). */
export function replyParts(reply: Reply, metadata: ReplyMetadata, gatewayMetadata: object) {
  const id = "0";
  return [
    { type: "stream-start", warnings: [] },
    { type: "response-metadata", ...metadata },
    ...(reply.calls.length > 0 ? reply.calls.flatMap(callParts) : textParts(reply, id)),
    { type: "finish", ...replyEnd(reply, gatewayMetadata) },
  ];
}

function textParts(reply: Reply, id: string): readonly object[] {
  return [
    { type: "text-start", id },
    ...wordsOf(reply).map((delta) => ({ type: "text-delta", id, delta })),
    { type: "text-end", id },
  ];
}

function callParts(call: PlayedCall): readonly object[] {
  const { id, name: toolName, input } = call;
  return [
    { type: "tool-input-start", id, toolName },
    ...argumentPieces(input).map((delta) => ({ type: "tool-input-delta", id, delta })),
    { type: "tool-input-end", id },
    toToolCall(call),
  ];
}

function replyEnd({ calls, inputTokens, outputTokens }: Reply, gatewayMetadata: object) {
  const isCalling = calls.length > 0;
  return {
    finishReason: isCalling
      ? { unified: "tool-calls", raw: "tool_calls" }
      : { unified: "stop", raw: "stop" },
    usage: {
      inputTokens: { total: inputTokens, noCache: inputTokens, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: outputTokens, text: outputTokens, reasoning: 0 },
    },
    providerMetadata: { gateway: gatewayMetadata },
  };
}

/** Returns the pieces that a reply is streamed in. */
export function wordsOf({ text }: Pick<Reply, "text">): readonly string[] {
  return text.match(/\S+\s*/gu) ?? [];
}

/** Returns a response that sends each part as one server-sent event, then `[DONE]`. */
export function eventStream(parts: readonly object[], headers: Record<string, string>): Response {
  const events = [...parts.map((part) => JSON.stringify(part)), "[DONE]"];
  const chunks = events.map((event) => Buffer.from(`data: ${event}\n\n`));
  return new Response(ReadableStream.from(chunks), {
    headers: { "content-type": "text/event-stream", "cache-control": "no-cache", ...headers },
  });
}
