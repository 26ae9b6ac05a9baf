import type {
  Conversation,
  FilePart,
  Message,
  Part,
  ProviderOptions,
  ReplySettings,
  TextPart,
  Tool,
  ToolChoice,
  ToolResultPart,
} from "../../conversation/conversation.ts";
import type { ApiRequest } from "../api.ts";
import { givenOf, invalidField, parseBody } from "../parse-body.ts";
import { findUnsupported } from "../unsupported.ts";
import {
  type Block,
  type ClientTool,
  type MessagesRequest,
  messagesRequestSchema,
  type ResultBlock,
} from "./messages-schema.ts";

/**
 * Reads a request of the Messages API.
 *
 * @throws HttpError (400) with the path of a wrong field, and an alternative.
 */
export function readMessagesRequest(body: unknown): ApiRequest {
  const request = readCountRequest(body);
  if (request.conversation.settings.maxOutputTokens !== undefined) return request;
  const message = "missing; send the most tokens that the reply may have";
  throw invalidField({ path: ["max_tokens"], message });
}

/**
 * Reads a request to count tokens, which needs no `max_tokens`.
 *
 * @throws HttpError (400) with the path of a wrong field, and an alternative.
 */
export function readCountRequest(body: unknown): ApiRequest {
  const { data, ...parsed } = parseBody(messagesRequestSchema, body);
  const [conversation, unsupported] = [toConversation(data), findUnsupported(data)];
  const isStreamed = data.stream === true;
  return { ...parsed, model: data.model, conversation, isStreamed, unsupported };
}

function toConversation(request: MessagesRequest): Conversation {
  const { system, messages, tools, tool_choice, output_config, output_format } = request;
  const instructions = system ? [{ role: "system" as const, content: system }] : [];
  const format = output_config?.format ?? output_format;
  return {
    messages: [...instructions, ...messages].map(toMessage),
    tools: (tools ?? []).flatMap((tool) => ("name" in tool ? toTool(tool) : [])),
    toolChoice: tool_choice ? toToolChoice(tool_choice) : null,
    format: format ? { name: null, description: null, schema: format.schema, strict: null } : null,
    settings: toSettings(request),
    providerOptions: toProviderOptions(request),
  };
}

function toMessage({ role, content }: MessagesRequest["messages"][number]): Message {
  const parts = partsOf<Block, Part>(content, toParts);
  const results = parts.filter(({ type }) => type === "toolResult");
  return { role, parts: [...results, ...parts.filter(({ type }) => type !== "toolResult")] };
}

function partsOf<TBlock, TPart>(
  content: string | readonly TBlock[] | null | undefined,
  toParts: (block: TBlock) => readonly TPart[],
): (TPart | TextPart)[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return (content ?? []).flatMap((block) => toParts(block));
}

function toParts(block: Block): readonly Part[] {
  switch (block.type) {
    case "thinking": {
      const signature = block.signature || null;
      const signed = signature === null ? {} : forAnthropic({ signature });
      return [{ type: "reasoning", text: block.thinking, signature, ...signed }];
    }
    case "redacted_thinking": {
      const { data: signature } = block;
      const options = forAnthropic({ redactedData: signature });
      return [{ type: "reasoning", text: "", signature, ...options }];
    }
    case "tool_use": {
      const { id, name } = block;
      const text = JSON.stringify(block.input);
      return [{ type: "toolCall", id, name, arguments: text, signature: null, ...cached(block) }];
    }
    case "tool_result": {
      const [id, isError] = [block.tool_use_id, block.is_error === true];
      const parts = partsOf(block.content, toContentParts);
      return [{ type: "toolResult", id, parts, isError, ...cached(block) }];
    }
    case "text":
    case "image":
    case "document":
    default:
      return toContentParts(block);
  }
}

function toContentParts(block: ResultBlock): ToolResultPart["parts"] {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: block.text, ...cached(block) }];
    case "tool_reference":
      return [{ type: "text", text: block.tool_name }];
    case "image": {
      const file = toFile(block.source);
      return file ? [{ type: "image", url: file.url, ...cached(block) }] : [];
    }
    case "document": {
      const [file, filename] = [toFile(block.source), block.title ?? null];
      return file ? [{ type: "file", ...file, filename, ...cached(block) }] : [];
    }
    default:
      return [];
  }
}

type Source = Extract<ResultBlock, { source: unknown }>["source"];

function toFile(source: Source): Pick<FilePart, "url" | "mediaType"> | null {
  if (source.type === "url") return { url: source.url, mediaType: "application/pdf" };
  if (source.type !== "base64" && source.type !== "text") return null;
  const isText = source.type === "text";
  const mediaType = isText ? "text/plain" : source.media_type;
  const data = isText ? Buffer.from(source.data).toString("base64") : source.data;
  return { url: `data:${mediaType};base64,${data}`, mediaType };
}

function cached({ cache_control: cacheControl }: Pick<MessagesRequest, "cache_control">) {
  return cacheControl ? forAnthropic({ cacheControl }) : {};
}

function forAnthropic(anthropic: ProviderOptions[string]) {
  return { providerOptions: { anthropic } };
}

function toTool({ name, input_schema: parameters, ...tool }: ClientTool): Tool {
  const { description = null, strict = null } = tool;
  return { name, description, parameters, strict, ...cached(tool) };
}

function toToolChoice(choice: NonNullable<MessagesRequest["tool_choice"]>): ToolChoice {
  if (choice.type === "tool") return { type: "tool", name: choice.name };
  return { type: choice.type === "any" ? "required" : choice.type };
}

function toSettings(request: MessagesRequest): ReplySettings {
  const { stop_sequences: stopSequences } = request;
  return givenOf({
    temperature: request.temperature,
    topP: request.top_p,
    topK: request.top_k,
    maxOutputTokens: request.max_tokens,
    stopSequences: stopSequences?.length === 0 ? null : stopSequences,
    reasoning: toReasoning(request),
  });
}

/** The effort, else that of the budget: Claude Code's budgets are 4,000, 10,000 and 31,999 tokens. */
function toReasoning({ thinking, output_config }: MessagesRequest): ReplySettings["reasoning"] {
  if (thinking?.type === "disabled") return undefined;
  const effort = output_config?.effort;
  if (effort) return effort === "max" ? "xhigh" : effort;
  if (!thinking) return undefined;
  const budget = thinking.budget_tokens ?? 10_000;
  return budget < 5000 ? "low" : budget < 20_000 ? "medium" : "high";
}

function toProviderOptions(request: MessagesRequest): ProviderOptions {
  const { thinking, metadata, cache_control: cacheControl } = request;
  const isSerial = request.tool_choice?.disable_parallel_tool_use === true;
  // Older models refuse adaptive thinking: every model gets the effort in the form that it takes.
  const isFixed = thinking?.type === "enabled" || thinking?.type === "disabled";
  const anthropic = {
    thinking: isFixed
      ? { type: thinking.type, ...givenOf({ budgetTokens: thinking.budget_tokens }) }
      : null,
    metadata: metadata?.user_id ? { userId: metadata.user_id } : null,
    disableParallelToolUse: isSerial || null,
    cacheControl,
  };
  const openai = { parallelToolCalls: false };
  return { anthropic: givenOf(anthropic), ...(isSerial && { openai }) };
}
