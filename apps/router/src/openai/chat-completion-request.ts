import type { ModelMessage } from "ai";
import { z } from "zod";
import { HttpError } from "../http-error.ts";
import type { ReplySettings } from "../reply/reply.ts";

const NOT_SUPPORTED = "not supported";

const textPartSchema = z.object({ type: z.literal("text"), text: z.string() });
const imagePartSchema = z.object({
  type: z.literal("image_url"),
  image_url: z.object({ url: z.string().regex(/^(https:|data:image\/)/, "is not https or data") }),
});
const textSchema = z.union(
  [z.string(), z.array(textPartSchema)],
  "neither text nor a list of text parts",
);
const userContentSchema = z.union(
  [z.string(), z.array(z.discriminatedUnion("type", [textPartSchema, imagePartSchema]))],
  "neither text nor a list of text and image parts",
);

const messageSchema = z.discriminatedUnion(
  "role",
  [
    z.object({ role: z.enum(["system", "developer"]), content: textSchema }),
    z.object({ role: z.literal("user"), content: userContentSchema }),
    z.object({ role: z.literal("assistant"), content: textSchema, tool_calls: nothing() }),
  ],
  "none of system, developer, user and assistant",
);

const chatCompletionRequestSchema = z.object({
  model: z.string(),
  messages: z.array(messageSchema).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  presence_penalty: z.number().nullish(),
  frequency_penalty: z.number().nullish(),
  seed: z.int().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  max_tokens: z.int().positive().nullish(),
  max_completion_tokens: z.int().positive().nullish(),
  reasoning_effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh"]).nullish(),
  n: only(1),
  logprobs: only(false),
  verbosity: only("medium"),
  tool_choice: only("none", "auto"),
  function_call: only("none", "auto"),
  modalities: z.array(z.literal("text", NOT_SUPPORTED)).nullish(),
  response_format: z.object({ type: z.literal("text", NOT_SUPPORTED) }).nullish(),
  audio: nothing(),
  functions: nothing(),
  logit_bias: nothing(),
  tools: nothing(),
  web_search_options: z.null(NOT_SUPPORTED).optional(), // an empty one asks for a search
});

/** One message of an OpenAI conversation. */
type ChatCompletionMessage = z.infer<typeof messageSchema>;

/** What `POST /v1/chat/completions` is sent, as far as the router can do it. */
export type ChatCompletionRequest = z.infer<typeof chatCompletionRequestSchema>;

/**
 * Reads a request in OpenAI's form. What would change the reply and cannot be done, such as
 * tools, is refused; what would not, such as `user`, is passed over.
 *
 * @throws HttpError with status 400 that names the field.
 */
export function parseChatCompletionRequest(body: unknown): ChatCompletionRequest {
  const { data, error } = chatCompletionRequestSchema.safeParse(body);
  if (data) return data;
  const [issue] = error.issues;
  const field = issue?.path.join(".") || "the body";
  throw new HttpError(400, `This router cannot do this: ${field}: ${issue?.message}.`, {
    param: field,
  });
}

/** A field whose other values would change the reply. */
function only(...values: (string | number | boolean)[]) {
  return z.literal(values, NOT_SUPPORTED).nullish();
}

/** A field that says nothing, or says it at length. */
function nothing() {
  return z.union([z.null(), z.tuple([]), z.strictObject({})], NOT_SUPPORTED).optional();
}

/** Returns a conversation in OpenAI's form as the `ai` package takes it: the same messages, in order. */
export function toModelMessages(messages: readonly ChatCompletionMessage[]): ModelMessage[] {
  return messages.map(toModelMessage);
}

/** Returns the text of the last user message, which decides; empty when there is none. */
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

/** Returns the settings of an OpenAI request in the words of the `ai` package; unset ones are left out. */
export function toSettings(request: ChatCompletionRequest): ReplySettings {
  const { stop } = request;
  const settings = {
    temperature: request.temperature,
    topP: request.top_p,
    presencePenalty: request.presence_penalty,
    frequencyPenalty: request.frequency_penalty,
    seed: request.seed,
    reasoning: request.reasoning_effort,
    maxOutputTokens: request.max_completion_tokens ?? request.max_tokens,
    stopSequences: typeof stop === "string" ? [stop] : stop,
  };
  const given = Object.entries(settings).filter(
    ([, value]) => value !== undefined && value !== null,
  );
  return Object.fromEntries(given);
}
