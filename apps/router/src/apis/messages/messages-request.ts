import { z } from "zod";
import {
  withoutUndefined,
  type Conversation,
  type Message,
  type Part,
  type ToolResultPart,
} from "../../conversation/conversation.ts";
import type { ApiRequest } from "../api.ts";
import { invalidField, parseBody } from "../parse-body.ts";
import { repairHistory } from "../repair-history.ts";
import * as field from "../request-fields.ts";
import { listOptions, listParts, toFile, toFormat, toTool } from "../request-parts.ts";

/** Reads a request of the Messages API. @throws HttpError (400) with the path of a wrong field. */
export function readMessagesRequest(requestBody: unknown): ApiRequest {
  const { body, repairs } = repairHistory("anthropic", requestBody);
  const { data, ...parsedBody } = parseBody(messagesSchema, body);
  const { model, stream } = data;
  const unsupportedError = data.max_tokens === 0 ? invalidField(noReply) : null;
  return {
    ...parsedBody,
    repairs,
    model,
    conversation: toConversation(data),
    isStreamed: stream === true,
    unsupported: parsedBody.unsupported ?? unsupportedError,
  };
}

type MessagesBody = z.infer<typeof messagesSchema>;
type Block = Exclude<MessagesBody["messages"][number]["content"], string>[number];
type ResultBlock = Exclude<z.infer<typeof resultContent>, string>[number];

function toConversation(messagesBody: MessagesBody): Conversation {
  const { system, messages, tools, output_config, output_format } = messagesBody;
  const instructions = system ? [{ role: "system" as const, content: system }] : [];
  const { stop_sequences: stopSequences } = messagesBody;
  return {
    messages: [...instructions, ...messages].map(toMessage),
    tools: (tools ?? []).map((tool) => toTool({ ...tool, parameters: tool.input_schema })),
    toolChoice: toToolChoice(messagesBody.tool_choice),
    format: toFormat(output_config?.format ?? output_format),
    settings: withoutUndefined({
      temperature: messagesBody.temperature,
      topP: messagesBody.top_p,
      topK: messagesBody.top_k,
      maxOutputTokens: messagesBody.max_tokens,
      stopSequences: stopSequences?.length === 0 ? null : stopSequences,
      reasoning: toReasoning(messagesBody),
    }),
    providerOptions: toProviderOptions(messagesBody),
  };
}

function toToolChoice(choice: MessagesBody["tool_choice"]): Conversation["toolChoice"] {
  if (choice?.type === "tool") return { type: "tool", toolName: choice.name };
  return choice ? { type: choice.type === "any" ? "required" : choice.type } : null;
}

function toMessage({ role, content }: MessagesBody["messages"][number]): Message {
  const parts = listParts(content, toPart);
  const results = parts.filter(({ type }) => type === "toolResult");
  return { role, parts: [...results, ...parts.filter(({ type }) => type !== "toolResult")] };
}

function toPart(block: Block): Part {
  switch (block.type) {
    case "thinking": {
      const signature = block.signature || null;
      const options = signature === null ? {} : { anthropic: { signature } };
      return { type: "reasoning", text: block.thinking, signature, ...listOptions(null, options) };
    }
    case "redacted_thinking": {
      const options = { anthropic: { redactedData: block.data } };
      return { type: "reasoning", text: "", signature: block.data, ...listOptions(null, options) };
    }
    case "tool_use": {
      const { id, name, input, cache_control } = block;
      const toolCall = { id, name, arguments: JSON.stringify(input), signature: null };
      return { type: "toolCall", ...toolCall, ...listOptions(cache_control) };
    }
    case "tool_result": {
      const [id, isError] = [block.tool_use_id, block.is_error === true];
      const parts = listParts(block.content, toContentPart);
      return { type: "toolResult", id, parts, isError, ...listOptions(block.cache_control) };
    }
    case "text":
    case "image":
    case "document":
    default:
      return toContentPart(block);
  }
}

function toContentPart(resultBlock: ResultBlock): ToolResultPart["parts"][number] {
  if (resultBlock.type === "tool_reference") return { type: "text", text: resultBlock.tool_name };
  const partOptions = listOptions(resultBlock.cache_control);
  if (resultBlock.type === "text") return { type: "text", text: resultBlock.text, ...partOptions };
  const sourceFile = toSourceFile(resultBlock.source);
  if (resultBlock.type === "image") return { type: "image", url: sourceFile.url, ...partOptions };
  return { ...sourceFile, filename: resultBlock.title ?? null, ...partOptions };
}

function toSourceFile(source: Extract<ResultBlock, { source: unknown }>["source"]) {
  if (source.type === "url") return toFile(source.url);
  if (source.type === "base64") return toFile(`data:${source.media_type};base64,${source.data}`);
  return toFile(`data:text/plain;base64,${Buffer.from(source.data).toString("base64")}`);
}

/** The effort, else that of the budget: Claude Code's budgets are 4,000, 10,000 and 31,999 tokens. */
function toReasoning({
  thinking,
  output_config,
}: MessagesBody): Conversation["settings"]["reasoning"] {
  if (thinking?.type === "disabled") return undefined;
  if (output_config?.effort) return output_config.effort;
  if (!thinking) return undefined;
  const tokenBudget = thinking.budget_tokens ?? 10_000;
  return tokenBudget < 5000 ? "low" : tokenBudget < 20_000 ? "medium" : "high";
}

function toProviderOptions(messagesBody: MessagesBody): Conversation["providerOptions"] {
  const { thinking, metadata, cache_control: cacheControl } = messagesBody;
  const isSerial = messagesBody.tool_choice?.disable_parallel_tool_use === true;
  // Older models refuse adaptive thinking: every model gets the effort in the form that it takes.
  const isFixed = thinking?.type === "enabled" || thinking?.type === "disabled";
  const anthropic = {
    thinking: isFixed
      ? { type: thinking.type, ...withoutUndefined({ budgetTokens: thinking.budget_tokens }) }
      : null,
    metadata: metadata?.user_id ? { userId: metadata.user_id } : null,
    disableParallelToolUse: isSerial || null,
    cacheControl,
  };
  return {
    anthropic: withoutUndefined(anthropic),
    ...(isSerial && { openai: { parallelToolCalls: false } }),
  };
}

const markedFields = {
  cache_control: z
    .object({ type: z.literal("ephemeral"), ttl: z.string().nullish() })
    // Other services have other lifetimes; Anthropic's longest is the nearest.
    .transform(({ type, ttl }) => (ttl ? { type, ttl: ttl === "5m" ? "5m" : "1h" } : { type }))
    .nullish(),
};

function listBlocks<TBlocks extends readonly [z.ZodObject, ...z.ZodObject[]]>(...blocks: TBlocks) {
  const onlyTextBlocks = "not supported; send it as a block of the type text";
  return field.toContent(z.discriminatedUnion("type", blocks, onlyTextBlocks));
}

const source = z.discriminatedUnion(
  "type",
  [
    z.object({
      type: z.literal("base64"),
      media_type: z.string().regex(/^[\w.+-]{1,64}\/[\w.+-]{1,64}$/, "is not a media type"),
      data: z.string().refine((base64Text) => !/[^\w+/=]/.test(base64Text), "is not base64"),
    }),
    z.object({ type: z.literal("url"), url: field.webUrl }),
    z.object({ type: z.literal("text"), data: z.string() }),
  ],
  "not supported; send the image itself or the document itself as base64",
);
const textBlock = z.object({ type: z.literal("text"), text: z.string(), ...markedFields });
const imageBlock = z.object({ type: z.literal("image"), source, ...markedFields });
const documentBlock = z.object({
  type: z.literal("document"),
  source,
  title: field.text,
  ...markedFields,
});
const toolReference = z.object({ type: z.literal("tool_reference"), tool_name: z.string() });
const resultContent = listBlocks(textBlock, imageBlock, documentBlock, toolReference);
const toolResult = z.object({
  type: z.literal("tool_result"),
  tool_use_id: z.string(),
  content: resultContent.nullish(),
  is_error: field.flag,
  ...markedFields,
});
const thinkingFields = { thinking: z.string(), signature: field.text };
const thinkingBlock = z.object({ type: z.literal("thinking"), ...thinkingFields });
const redactedSchema = z.object({ type: z.literal("redacted_thinking"), data: z.string() });
const toolUseBlock = z.object({
  type: z.literal("tool_use"),
  id: field.name,
  name: field.name,
  input: field.jsonObject,
  ...markedFields,
});

const userContent = listBlocks(textBlock, imageBlock, documentBlock, toolResult);
const assistantContent = listBlocks(textBlock, thinkingBlock, redactedSchema, toolUseBlock);
const messageSchema = z.discriminatedUnion(
  "role",
  [
    z.object({ role: z.literal("user"), content: userContent }),
    z.object({ role: z.literal("assistant"), content: assistantContent }),
    z.object({ role: z.literal("system"), content: listBlocks(textBlock) }),
  ],
  "none of user, assistant and system",
);
const toolSchema = z.object({
  type: z.literal("custom").nullish(),
  name: field.name,
  description: field.text,
  input_schema: field.jsonObject,
  strict: field.flag,
  ...markedFields,
});
const onlyOwnTools = "not supported; define a tool by its input_schema and run it";
const serialFields = { disable_parallel_tool_use: field.flag };
const toolChoice = z.discriminatedUnion(
  "type",
  [
    z.object({ type: z.enum(["auto", "any", "none"]), ...serialFields }),
    z.object({ type: z.literal("tool"), name: field.name, ...serialFields }),
  ],
  "none of auto, any, tool and none",
);
const format = z.object({
  type: z.literal("json_schema", "not supported; use json_schema"),
  schema: field.jsonObject,
});

/** It warms the cache of Anthropic's own service. */
const noReply = { path: ["max_tokens"], message: "0 is no reply here; send 1 or more" };
const missingTokens = "missing; send the most tokens that the reply may have";
const max_tokens = z
  .int({ error: ({ input }) => (input == null ? missingTokens : undefined) })
  .nonnegative();

/** The fields that are read. */
const messagesSchema = z.object({
  model: field.name,
  max_tokens,
  system: listBlocks(textBlock).nullish(),
  messages: z.array(messageSchema).min(1),
  stream: field.flag,
  tools: z.array(z.discriminatedUnion("type", [toolSchema], onlyOwnTools)).nullish(),
  tool_choice: toolChoice.nullish(),
  thinking: z.object({ type: z.string(), budget_tokens: field.count }).nullish(),
  temperature: field.number,
  top_p: field.number,
  top_k: z.int().nullish(),
  stop_sequences: z.array(z.string()).nullish(),
  metadata: z.object({ user_id: field.text }).nullish(),
  output_config: z.object({ effort: field.effort.catch(null), format: format.nullish() }).nullish(),
  output_format: format.nullish(),
  ...markedFields,
  thread: z.null("not supported; send the whole conversation").optional(),
});
