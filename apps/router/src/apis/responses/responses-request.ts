import type {
  Conversation,
  Message,
  Part,
  ProviderOptions,
  ReasoningPart,
  ReplyFormat,
  ToolChoice,
  ToolResultPart,
} from "../../conversation/conversation.ts";
import type { ApiRequest } from "../api.ts";
import { givenOf, invalidField, parseBody } from "../parse-body.ts";
import { findUnsupported } from "../unsupported.ts";
import { toClientTools, toModelName } from "./client-tools.ts";
import {
  hostedTools,
  neededFields,
  type ResponsesBody,
  responsesSchema,
} from "./responses-schema.ts";

/**
 * Reads a request of the Responses API.
 *
 * @throws HttpError (400) with the path of a wrong field, and an alternative.
 */
export function readResponsesRequest(input: unknown): ApiRequest {
  const { data, body, unread, unsupported } = parseBody(responsesSchema, input, neededFields);
  const conversation = toConversation(data);
  const hosted = hostedTools.filter((name) => data.tools?.some(({ type }) => type === name));
  const isForced = conversation.toolChoice?.type === "required" && conversation.tools.length === 0;
  const message = "needs a tool that the client runs; define a function";
  return {
    model: data.model,
    conversation,
    isStreamed: data.stream === true,
    unread: [...unread, ...hosted.map((type) => `tools.${type}`)],
    unsupported:
      unsupported ??
      findUnsupported(data) ??
      (isForced ? invalidField({ path: ["tool_choice"], message }) : null),
    body,
  };
}

function toConversation(data: ResponsesBody): Conversation {
  const effort = data.reasoning?.effort;
  return {
    messages: toMessages(data),
    tools: toClientTools(data.tools).map(({ tool }) => tool),
    toolChoice: toToolChoice(data.tool_choice),
    format: toFormat(data.text?.format),
    settings: givenOf({
      temperature: data.temperature,
      topP: data.top_p,
      maxOutputTokens: data.max_output_tokens,
      reasoning: effort === "max" ? "xhigh" : effort,
    }),
    providerOptions: toProviderOptions(data),
  };
}

function toToolChoice(choice: ResponsesBody["tool_choice"]): ToolChoice | null {
  if (typeof choice === "string") return { type: choice };
  return choice ? { type: "tool", name: toModelName(choice.name, choice.namespace) } : null;
}

const anyJson = { name: null, description: null, schema: null, strict: null };

function toFormat(format: NonNullable<ResponsesBody["text"]>["format"]): ReplyFormat | null {
  if (format?.type === "json_object") return anyJson;
  if (format?.type !== "json_schema") return null;
  const { name, description = null, schema, strict = null } = format;
  return { name, description, schema, strict };
}

/** Options that some providers have. */
function toProviderOptions({ user, ...data }: ResponsesBody): ProviderOptions {
  const isSerial = data.parallel_tool_calls === false;
  const openai = givenOf({
    textVerbosity: data.text?.verbosity,
    reasoningSummary: data.reasoning?.summary,
    promptCacheKey: data.prompt_cache_key,
    parallelToolCalls: isSerial ? false : null,
  });
  return {
    ...(typeof user === "string" && { gateway: { user } }),
    ...(Object.keys(openai).length > 0 && { openai }),
    ...(isSerial && { anthropic: { disableParallelToolUse: true } }),
  };
}

/** One message of the assistant has all its parts; results belong to the user's message after them. */
function toMessages({ instructions, input }: ResponsesBody): Message[] {
  const read: { role: Message["role"]; parts: Part[] }[] = [];
  if (instructions) read.push({ role: "system", parts: toContent(instructions) });
  if (typeof input === "string") return [...read, { role: "user", parts: toContent(input) }];
  for (const { role, parts } of input.map(toMessage)) {
    const last = read.at(-1);
    const isOpen = role === "assistant" || last?.parts.at(-1)?.type === "toolResult";
    if (last?.role !== role || !isOpen) read.push({ role, parts });
    else for (const part of parts) last.parts.push(part);
  }
  return read;
}

type Item = Exclude<ResponsesBody["input"], string>[number];

function toMessage(item: Item): { role: Message["role"]; parts: Part[] } {
  if ("role" in item) {
    const role = item.role === "developer" ? "system" : item.role;
    return { role, parts: toContent(item.content) };
  }
  if ("output" in item) {
    const result = { id: item.call_id, parts: toContent(item.output), isError: false };
    return { role: "user", parts: [{ type: "toolResult", ...result }] };
  }
  if (item.type === "reasoning") return { role: "assistant", parts: [toReasoning(item)] };
  if (!("name" in item)) return { role: "assistant", parts: [] };
  const call = { id: item.call_id, name: toModelName(item.name, item.namespace), signature: null };
  const text = "input" in item ? JSON.stringify({ input: item.input }) : item.arguments;
  return { role: "assistant", parts: [{ type: "toolCall", ...call, arguments: text }] };
}

/** OpenAI binds encrypted content to its own id, and takes it without an id too. */
function toReasoning(item: Extract<Item, { type: "reasoning" }>): ReasoningPart {
  const { id, summary, content, encrypted_content: signature = null } = item;
  const texts = content?.length ? content : (summary ?? []);
  const text = texts.map((part) => part.text).join("\n\n");
  const itemId = id?.startsWith("rs_") ? id : null;
  const isOpenAi = itemId !== null || signature?.startsWith("gAAAA"); // how its content begins
  const openai = givenOf({ itemId, reasoningEncryptedContent: signature });
  return { type: "reasoning", text, signature, ...(isOpenAi && { providerOptions: { openai } }) };
}

type Content = Extract<Item, { role: string }>["content"];
type ContentPart = ToolResultPart["parts"][number];

function toContent(content: Content): ContentPart[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.flatMap(toContentParts);
}

function toContentParts(part: Exclude<Content, string>[number]): ContentPart[] {
  if ("text" in part) return [{ type: "text", text: part.text }];
  if ("refusal" in part) return [{ type: "text", text: part.refusal }];
  if ("image_url" in part) {
    const { image_url: url, detail: imageDetail } = part;
    const options = imageDetail ? { providerOptions: { openai: { imageDetail } } } : {};
    return [{ type: "image", url, ...options }];
  }
  if ("input_audio" in part) {
    const { data, format } = part.input_audio;
    const mediaType = format === "mp3" ? "audio/mpeg" : "audio/wav";
    return [{ type: "file", url: `data:${mediaType};base64,${data}`, mediaType, filename: null }];
  }
  if (part.type !== "input_file") return [];
  const url = part.file_data ?? part.file_url ?? "";
  const mediaType = /^data:([^;]+);/.exec(url)?.[1] ?? "application/pdf";
  return [{ type: "file", url, mediaType, filename: part.filename ?? null }];
}
