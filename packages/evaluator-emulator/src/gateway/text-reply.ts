import { z } from "zod";
import { estimateTextTokens } from "../questions/tokens.ts";

const requestSchema = z.object({
  prompt: z.unknown(),
  responseFormat: z.looseObject({ type: z.string() }).optional(),
  tools: z.array(z.unknown()).optional(),
});

/** A reply, before it is sent whole or in parts. */
interface Reply {
  readonly text: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** What the caller asked for and an echo cannot do. */
  readonly warnings: readonly { type: "unsupported"; feature: string }[];
}

/** The reply to a text request in the AI SDK's form, or null when it is not one. */
export function composeReply(body: unknown): Reply | null {
  const { data: request } = requestSchema.safeParse(body);
  const prompt = promptText(request?.prompt);
  if (request === undefined || prompt === null) return null;
  const text = replyText(prompt.lastUserText);
  return {
    text,
    inputTokens: estimateTextTokens(prompt.allText),
    outputTokens: estimateTextTokens(text),
    warnings: unsupportedFeatures(request).map((feature) => ({ type: "unsupported", feature })),
  };
}

function unsupportedFeatures({ responseFormat, tools = [] }: z.infer<typeof requestSchema>) {
  const wantsOtherThanText = (responseFormat?.type ?? "text") !== "text";
  return [
    ...(wantsOtherThanText ? ["responseFormat"] : []),
    ...(tools.length > 0 ? ["tools"] : []),
  ];
}

const messageSchema = z.object({
  role: z.string(),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]),
});
const promptSchema = z.array(messageSchema).min(1);

/** What a prompt says. */
interface PromptText {
  /** The text of the last user message. */
  readonly lastUserText: string;
  /** All text of the prompt, for counting tokens. */
  readonly allText: string;
}

/** The text of a prompt in the AI SDK's form, or null when it is not one. */
export function promptText(prompt: unknown): PromptText | null {
  const { data: messages } = promptSchema.safeParse(prompt);
  if (messages === undefined) return null;
  const lastUser = messages.findLast(({ role }) => role === "user");
  return {
    lastUserText: lastUser === undefined ? "" : textOf(lastUser),
    allText: messages.map(textOf).join("\n"),
  };
}

function textOf({ content }: z.infer<typeof messageSchema>): string {
  if (typeof content === "string") return content;
  return content
    .map(({ text }) => (typeof text === "string" ? text : ""))
    .filter((text) => text !== "")
    .join("\n");
}

const longestEcho = 200;

/** Returns the reply of the emulator's text models: says what it is, and what it was asked. */
export function replyText(question: string): string {
  const characters = Array.from(question.trim());
  const echo = characters.slice(0, longestEcho).join("");
  const rest = characters.length > longestEcho ? "…" : "";
  return `This reply comes from the local emulator, not from a language model. You asked: "${echo}${rest}"`;
}

/** Who replied, and when. */
interface ReplyMetadata {
  readonly id: string;
  readonly modelId: string;
  /** ISO 8601. */
  readonly timestamp: string;
}

/** The body of a whole reply (language model specification v4). */
export function wholeReply(reply: Reply, response: ReplyMetadata, gatewayMetadata: object) {
  return {
    content: [{ type: "text", text: reply.text }],
    ...replyEnd(reply, gatewayMetadata),
    response,
    warnings: reply.warnings,
  };
}

/** Returns the stream parts of a reply, word by word (language model specification v4). */
export function replyParts(reply: Reply, metadata: ReplyMetadata, gatewayMetadata: object) {
  const id = "0";
  return [
    { type: "stream-start", warnings: reply.warnings },
    { type: "response-metadata", ...metadata },
    { type: "text-start", id },
    ...wordsOf(reply).map((delta) => ({ type: "text-delta", id, delta })),
    { type: "text-end", id },
    { type: "finish", ...replyEnd(reply, gatewayMetadata) },
  ];
}

function replyEnd({ inputTokens, outputTokens }: Reply, gatewayMetadata: object) {
  return {
    finishReason: { unified: "stop", raw: "stop" },
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
