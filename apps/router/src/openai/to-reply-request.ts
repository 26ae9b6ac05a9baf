import type { ModelMessage } from "ai";
import type { ReplyForm, ReplyPrompt, ReplySettings } from "../reply/reply.ts";
import {
  type ChatCompletionMessage,
  type ChatCompletionRequest,
  textOf,
} from "./chat-completion-request.ts";

type MessageOf<TRole> = Extract<ChatCompletionMessage, { role: TRole }>;
type UserPart = Exclude<MessageOf<"user">["content"], string>[number];

/** Converts a request to the prompt, the settings and the form of the `ai` package. */
export function toReplyRequest(request: ChatCompletionRequest) {
  const { stop, messages } = request;
  const settings: ReplySettings | undefined = givenOf({
    temperature: request.temperature,
    topP: request.top_p,
    topK: request.top_k,
    presencePenalty: request.presence_penalty,
    frequencyPenalty: request.frequency_penalty,
    seed: request.seed,
    reasoning: request.reasoning_effort,
    maxOutputTokens: request.max_completion_tokens ?? request.max_tokens,
    stopSequences: typeof stop === "string" ? [stop] : stop,
  });
  const tools = request.tools ?? [];
  const form: ReplyForm | undefined = givenOf({
    tools: tools.length === 0 ? null : tools.map(toTool),
    toolChoice: tools.length === 0 ? null : toToolChoice(request.tool_choice),
    responseFormat: toResponseFormat(request.response_format),
    providerOptions: toProviderOptions(request),
  });
  return {
    prompt: toModelMessages(messages),
    ...(settings && { settings }),
    ...(form && { form }),
  };
}

/** Omits null and undefined values; undefined if all are. */
function givenOf<TValues extends object>(values: TValues) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  if (given.length === 0) return undefined;
  return Object.fromEntries(given) as { [TKey in keyof TValues]?: NonNullable<TValues[TKey]> };
}

function toModelMessages(messages: readonly ChatCompletionMessage[]): ReplyPrompt {
  const toolNames = new Map<string, string>();
  return messages.map((message): ModelMessage => {
    switch (message.role) {
      case "system":
      case "developer":
        return { role: "system", content: textOf(message.content) };
      case "user":
        return {
          role: "user",
          content:
            typeof message.content === "string" ? message.content : message.content.map(toPart),
        };
      case "assistant":
        for (const call of message.tool_calls ?? []) toolNames.set(call.id, call.function.name);
        return assistantMessage(message);
      case "tool":
      default: {
        const { tool_call_id: toolCallId, content } = message;
        const toolName = toolNames.get(toolCallId) ?? "";
        const output = { type: "text" as const, value: textOf(content) };
        return { role: "tool", content: [{ type: "tool-result", toolCallId, toolName, output }] };
      }
    }
  });
}

const audioTypes = { wav: "audio/wav", mp3: "audio/mpeg" };

function toPart(part: UserPart) {
  switch (part.type) {
    case "text":
      return { type: "text" as const, text: part.text };
    case "image_url": {
      const { url, detail } = part.image_url;
      const options = { providerOptions: { openai: { imageDetail: detail ?? "auto" } } };
      const file = { type: "file" as const, mediaType: "image/*", data: new URL(url) };
      return detail === undefined || detail === null ? file : { ...file, ...options };
    }
    case "input_audio": {
      const { data, format } = part.input_audio;
      return { type: "file" as const, mediaType: audioTypes[format], data };
    }
    case "file":
    default: {
      const { file_data: data, filename } = part.file;
      const mediaType = data.slice("data:".length, data.indexOf(";"));
      const named = typeof filename === "string" ? { filename } : {};
      return { type: "file" as const, mediaType, data: new URL(data), ...named };
    }
  }
}

function assistantMessage({ content, refusal, tool_calls }: MessageOf<"assistant">): ModelMessage {
  const text = content === null || content === undefined ? (refusal ?? "") : textOf(content);
  const calls = (tool_calls ?? []).map(({ id, function: called }) => ({
    type: "tool-call" as const,
    toolCallId: id,
    toolName: called.name,
    input: parsedOrText(called.arguments),
  }));
  if (calls.length === 0) return { role: "assistant", content: text };
  const said = text === "" ? [] : [{ type: "text" as const, text }];
  return { role: "assistant", content: [...said, ...calls] };
}

/** Arguments that are not JSON are passed on unchanged. */
function parsedOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

type Tool = NonNullable<ChatCompletionRequest["tools"]>[number];

function toTool({ function: { name, description, parameters, strict } }: Tool) {
  return {
    type: "function" as const,
    name,
    inputSchema: parameters ?? { type: "object" as const, properties: {} },
    ...givenOf({ description, strict }),
  };
}

function toToolChoice(choice: ChatCompletionRequest["tool_choice"]) {
  if (choice === undefined || choice === null) return null;
  if (typeof choice === "string") return { type: choice };
  return { type: "tool" as const, toolName: choice.function.name };
}

function toResponseFormat(format: ChatCompletionRequest["response_format"]) {
  if (format === undefined || format === null || format.type === "text") return null;
  if (format.type !== "json_schema") return { type: "json" as const };
  const { name, description, schema } = format.json_schema;
  return { type: "json" as const, name, ...givenOf({ description, schema }) };
}

/** Options that the gateway has for some providers only. */
function toProviderOptions({ user, response_format, ...request }: ChatCompletionRequest) {
  const isSerial = request.parallel_tool_calls === false;
  const strict =
    response_format?.type === "json_schema" ? response_format.json_schema.strict : undefined;
  return givenOf({
    gateway: givenOf({ user }),
    openai: givenOf({ parallelToolCalls: isSerial ? false : null, strictJsonSchema: strict }),
    anthropic: isSerial ? { disableParallelToolUse: true } : null,
  });
}
