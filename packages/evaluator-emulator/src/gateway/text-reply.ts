import { z } from "zod";
import { isJsonRecord } from "../json.ts";
import { estimateTextTokens } from "../questions/evaluation-input.ts";
import { chooseCalls, fillSchema, type PlayedCall, type ReplyShape } from "./shaped-reply.ts";

/** A reply before it is sent whole or in parts. */
interface Reply {
  /** Empty if tools are called. */
  readonly text: string;
  readonly calls: readonly PlayedCall[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly basis: "lexical" | "none";
}

interface ReplyMaterial {
  /** The conversation, in the AI SDK's form or in OpenAI's. */
  readonly prompt: unknown;
  readonly shape: ReplyShape;
  readonly nextId: () => string;
}

/** Returns the reply to a conversation, or null if it is none. */
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
  const message = toolText ?? lastUserText;
  const intro = toolText === null ? "You asked" : "The tools answered";
  const reply = `${origin} ${intro}: "${shortened(message)}"`;
  if (json === null) return reply;
  if (Object.keys(json).length === 0) return JSON.stringify({ reply });
  return JSON.stringify(fillSchema(json, { message }));
}

const messageSchema = z.object({
  role: z.string(),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]).nullish(),
});
const promptSchema = z.array(messageSchema).min(1);

interface PromptText {
  readonly lastUserText: string;
  /** The answers of tools at the end of the prompt; null without such answers. */
  readonly toolText: string | null;
  /** All text of the prompt, for counting tokens. */
  readonly allText: string;
}

function promptText(prompt: unknown): PromptText | null {
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

/** Returns a text, or the answer of a tool (language model specification v4). */
function textOfPart({ text, output }: Record<string, unknown>): string {
  if (typeof text === "string") return text;
  const value = isJsonRecord(output) ? output["value"] : undefined;
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

const longestEcho = 200;

const origin = "This reply comes from the local emulator, not from a language model.";

function shortened(text: string): string {
  const characters = Array.from(text.trim());
  const rest = characters.length > longestEcho ? "…" : "";
  return characters.slice(0, longestEcho).join("") + rest;
}

/** Returns the pieces that a reply is streamed in. */
export function wordsOf({ text }: Pick<Reply, "text">): readonly string[] {
  return text.match(/\S+\s*/gu) ?? [];
}

/** Returns the pieces that a call's arguments are streamed in. */
export function argumentPieces({ input }: PlayedCall): readonly string[] {
  return input.match(/[\s\S]{1,8}/gu) ?? [];
}

/** Returns a response that sends each part as one server-sent event, then `[DONE]`. */
export function eventStream(parts: readonly object[], headers: Record<string, string>): Response {
  const events = [...parts.map((part) => JSON.stringify(part)), "[DONE]"];
  const chunks = events.map((event) => Buffer.from(`data: ${event}\n\n`));
  return new Response(ReadableStream.from(chunks), {
    headers: { "content-type": "text/event-stream", "cache-control": "no-cache", ...headers },
  });
}
