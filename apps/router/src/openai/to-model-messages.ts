import type { ModelMessage } from "ai";
import type { ChatCompletionMessage } from "./chat-completion-request.ts";

/** A conversation in OpenAI's form as the `ai` package takes it: the same messages, in order. */
export function toModelMessages(messages: readonly ChatCompletionMessage[]): ModelMessage[] {
  return messages.map(toModelMessage);
}

/** The text of the last user message, which decides; empty when there is none. */
export function lastUserText(messages: readonly ChatCompletionMessage[]): string {
  const last = messages.findLast(({ role }) => role === "user");
  return last === undefined ? "" : textOf(last.content);
}

function toModelMessage(message: ChatCompletionMessage): ModelMessage {
  const { role, content } = message;
  if (role === "assistant") return { role, content: textOf(content) };
  if (role !== "user") return { role: "system", content: textOf(content) };
  return { role, content: typeof content === "string" ? content : content.map(toPart) };
}

function toPart(part: Exclude<ChatCompletionMessage["content"], string>[number]) {
  if (part.type === "text") return { type: "text" as const, text: part.text };
  const url = new URL(part.image_url.url);
  return { type: "file" as const, mediaType: "image/*", data: url };
}

function textOf(content: ChatCompletionMessage["content"]): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}
