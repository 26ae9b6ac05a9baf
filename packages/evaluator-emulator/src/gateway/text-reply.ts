import { z } from "zod";
import { isJsonRecord } from "../json.ts";
import { estimateTextTokens } from "../questions/evaluation-input.ts";
import { chooseCalls, fillSchema, type PlayedCall, type ReplyShape } from "./shaped-reply.ts";

/** The conversation, in the AI SDK's form or in OpenAI's, and the wanted reply. */
interface ReplyMaterial {
  readonly prompt: unknown;
  readonly shape: ReplyShape;
  readonly nextId: () => string;
}

/** Returns the reply to a conversation, or null if it is none; the text is empty if tools are called. */
export function composeReply({ prompt, shape, nextId }: ReplyMaterial) {
  const { data: messages } = promptSchema.safeParse(prompt);
  if (messages === undefined) return null;
  const lastUser = messages.findLast(({ role }) => role === "user");
  const question = lastUser === undefined ? "" : textOf(lastUser);
  const results = messages.slice(messages.findLastIndex(({ role }) => role !== "tool") + 1);
  const hasResults = results.length > 0;
  const message = hasResults ? results.map(textOf).join("\n") : question;
  const calls = hasResults ? [] : chooseCalls(question, shape, nextId);
  const intro = hasResults ? "The tools answered" : "You asked";
  const sentence = `${origin} ${intro}: "${shortened(message)}"`;
  const text = calls.length > 0 ? "" : shapeText(sentence, message, shape);
  return {
    text,
    calls,
    inputTokens: estimateTextTokens(messages.map(textOf).join("\n")),
    outputTokens: estimateTextTokens(text + calls.map(({ input }) => input).join("")),
    basis: calls.length > 0 || shape.json !== null ? ("lexical" as const) : ("none" as const),
  };
}

const messageSchema = z.object({
  role: z.string(),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]).nullish(),
});
const promptSchema = z.array(messageSchema).min(1);

function shapeText(reply: string, message: string, { json }: ReplyShape): string {
  if (json === null) return reply;
  if (Object.keys(json).length === 0) return JSON.stringify({ reply });
  return JSON.stringify(fillSchema(json, { message }));
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
export function wordsOf({ text }: { readonly text: string }): readonly string[] {
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
