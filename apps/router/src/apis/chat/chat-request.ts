import type {
  Conversation,
  Message,
  Part,
  ProviderOptions,
  ReplyFormat,
  Tool,
  ToolCallPart,
  ToolChoice,
  ToolResultPart,
} from "../../conversation/conversation.ts";
import type { ApiRequest } from "../api.ts";
import { givenOf, invalidField, parseBody } from "../parse-body.ts";
import { type ChatBody, type ChatMessage, chatSchema, neededFields } from "./chat-schema.ts";

/**
 * Reads a request of the chat completions API.
 *
 * @throws HttpError (400) with the path of a wrong field, and an alternative.
 */
export function readChatRequest(input: unknown): ApiRequest {
  const { data, ...read } = parseBody(chatSchema, input, neededFields);
  const { model, stream } = data;
  return { ...read, model, conversation: toConversation(data), isStreamed: stream === true };
}

function toConversation(data: ChatBody): Conversation {
  const { stop } = data;
  const effort = data.reasoning_effort ?? data.reasoning?.effort;
  return {
    messages: toMessages(data.messages),
    tools: (data.tools ?? []).map(toTool),
    toolChoice: toToolChoice(data.tool_choice),
    format: toFormat(data.response_format),
    settings: givenOf({
      temperature: data.temperature,
      topP: data.top_p,
      topK: data.top_k,
      presencePenalty: data.presence_penalty,
      frequencyPenalty: data.frequency_penalty,
      seed: data.seed,
      maxOutputTokens: data.max_completion_tokens ?? data.max_tokens,
      stopSequences: typeof stop === "string" ? [stop] : stop,
      reasoning: effort === "max" ? "xhigh" : effort,
    }),
    providerOptions: toProviderOptions(data),
  };
}

/** Options that some providers have. */
function toProviderOptions({ user, verbosity, ...data }: ChatBody): ProviderOptions {
  const isSerial = data.parallel_tool_calls === false;
  const textVerbosity = ["low", "medium", "high"].find((level) => level === verbosity);
  const openai = givenOf({ textVerbosity, parallelToolCalls: isSerial ? false : null });
  return {
    ...(typeof user === "string" && { gateway: { user } }),
    ...(Object.keys(openai).length > 0 && { openai }),
    ...(isSerial && { anthropic: { disableParallelToolUse: true } }),
  };
}

function toTool({ function: called, cache_control }: NonNullable<ChatBody["tools"]>[number]): Tool {
  const { name, description = null, parameters, strict = null } = called;
  const schema = parameters ?? { type: "object", properties: {} };
  return { name, description, parameters: schema, strict, ...optionsOf(cache_control) };
}

function toToolChoice(choice: ChatBody["tool_choice"]): ToolChoice | null {
  if (typeof choice === "string") return { type: choice };
  return choice ? { type: "tool", name: choice.function.name } : null;
}

function toFormat(format: ChatBody["response_format"]): ReplyFormat | null {
  const anyJson = { name: null, description: null, schema: null, strict: null };
  if (format?.type === "json_schema") return { ...anyJson, ...givenOf(format.json_schema) };
  return format?.type === "json_object" ? anyJson : null;
}

/** Results belong to the user's message that follows them. */
function toMessages(messages: readonly ChatMessage[]): Message[] {
  const read: { role: Message["role"]; parts: Part[] }[] = [];
  let open = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message.role !== "tool") open = new Set(callsOf(message).map(({ id }) => id));
    else if (!open.delete(message.tool_call_id)) {
      const problem = "answers no tool call of the assistant message before it";
      throw invalidField({ path: ["messages", index, "tool_call_id"], message: problem });
    }
    const next = { role: toRole(message.role), parts: markedLast(toParts(message), message) };
    const last = read.at(-1);
    const isAfterResult = next.role === "user" && last?.parts.at(-1)?.type === "toolResult";
    if (isAfterResult) for (const part of next.parts) last.parts.push(part);
    else read.push(next);
  }
  return read;
}

function toRole(role: ChatMessage["role"]): Message["role"] {
  if (role === "tool") return "user";
  return role === "developer" ? "system" : role;
}

function callsOf(message: ChatMessage) {
  return message.role === "assistant" ? (message.tool_calls ?? []) : [];
}

/** A message's mark is the mark of its last part. */
function markedLast(parts: Part[], { cache_control }: ChatMessage): Part[] {
  const last = parts.at(-1);
  if (last === undefined || !cache_control) return parts;
  return [...parts.slice(0, -1), { ...last, ...optionsOf(cache_control, last.providerOptions) }];
}

function optionsOf(cacheControl: ChatMessage["cache_control"], others: ProviderOptions = {}) {
  const options = { ...(cacheControl && { anthropic: { cacheControl } }), ...others };
  return Object.keys(options).length === 0 ? {} : { providerOptions: options };
}

function toParts(message: ChatMessage): Part[] {
  if (message.role === "tool") {
    const parts = toContent(message.content);
    return [{ type: "toolResult", id: message.tool_call_id, parts, isError: false }];
  }
  if (message.role !== "assistant") return toContent(message.content);
  const { content, refusal, reasoning_content, reasoning } = message;
  const thought = reasoning_content ?? reasoning ?? "";
  const said = toContent(content ?? refusal ?? "");
  return [
    ...(thought === "" ? [] : [{ type: "reasoning" as const, text: thought, signature: null }]),
    // Some clients send a space for no text, which Anthropic's models refuse.
    ...said.filter((part) => part.type !== "text" || part.text.trim() !== ""),
    ...callsOf(message).map(toCall),
  ];
}

type Content = NonNullable<ChatMessage["content"]>;
type ContentPart = Exclude<Content, string>[number];

function toContent(content: Content): ToolResultPart["parts"][number][] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.map(toPart);
}

const audioTypes = { wav: "audio/wav", mp3: "audio/mpeg" };

function toPart(part: ContentPart) {
  const options = optionsOf(part.cache_control);
  switch (part.type) {
    case "text":
      return { type: part.type, text: part.text, ...options };
    case "refusal":
      return { type: "text" as const, text: part.refusal, ...options };
    case "image_url": {
      const { url, detail } = part.image_url;
      const detailed = detail ? { openai: { imageDetail: detail } } : {};
      return { type: "image" as const, url, ...optionsOf(part.cache_control, detailed) };
    }
    case "input_audio": {
      const { data, format } = part.input_audio;
      const mediaType = audioTypes[format];
      const url = `data:${mediaType};base64,${data}`;
      return { type: "file" as const, url, mediaType, filename: null, ...options };
    }
    case "file":
    default: {
      const { file_data: url, filename = null } = part.file;
      const mediaType = url.slice("data:".length, url.indexOf(";"));
      return { type: part.type, url, mediaType, filename, ...options };
    }
  }
}

function toCall(call: ReturnType<typeof callsOf>[number]): ToolCallPart {
  const { type, id } = call;
  if (type === "custom") {
    const { name, input } = call.custom;
    return { type: "toolCall", id, name, arguments: input, signature: null };
  }
  const signature = call.extra_content?.google?.thought_signature ?? null;
  const options = signature === null ? {} : { google: { thoughtSignature: signature } };
  return { type: "toolCall", id, ...call.function, signature, ...optionsOf(null, options) };
}
