import {
  givenOf,
  type Conversation,
  type Message,
  type Part,
  type ToolCallPart,
} from "../../conversation/conversation.ts";
import type { ApiRequest } from "../api.ts";
import { toPart, toProviderOptions } from "../openai-fields.ts";
import { invalidField, parseBody } from "../parse-body.ts";
import { joinSteps, optionsOf, partsOf, toFormat, toTool } from "../request-parts.ts";
import { type ChatBody, chatSchema, neededFields } from "./chat-schema.ts";

/**
 * Reads a request of the chat completions API.
 *
 * @throws HttpError (400) with the path of a wrong field, and an alternative.
 */
export function readChatRequest(input: unknown): ApiRequest {
  const { data, ...read } = parseBody(chatSchema, input, neededFields);
  checkResults(data.messages);
  const isStreamed = data.stream === true;
  return { ...read, model: data.model, conversation: toConversation(data), isStreamed };
}

type ChatMessage = ChatBody["messages"][number];

function checkResults(messages: readonly ChatMessage[]): void {
  let open = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message.role !== "tool") open = new Set(callsOf(message).map(({ id }) => id));
    else if (!open.delete(message.tool_call_id)) {
      const problem = "answers no tool call of the assistant message before it";
      throw invalidField({ path: ["messages", index, "tool_call_id"], message: problem });
    }
  }
}

function callsOf(message: ChatMessage) {
  return message.role === "assistant" ? (message.tool_calls ?? []) : [];
}

function toConversation(data: ChatBody): Conversation {
  const { stop, response_format: format } = data;
  return {
    messages: joinSteps(data.messages.map(toMessage)),
    tools: (data.tools ?? []).map((tool) => toTool({ ...tool, ...tool.function })),
    toolChoice: toToolChoice(data.tool_choice),
    format: toFormat(
      format?.type === "json_schema" ? { ...format, ...format.json_schema } : format,
    ),
    settings: givenOf({
      temperature: data.temperature,
      topP: data.top_p,
      topK: data.top_k,
      presencePenalty: data.presence_penalty,
      frequencyPenalty: data.frequency_penalty,
      seed: data.seed,
      maxOutputTokens: data.max_completion_tokens ?? data.max_tokens,
      stopSequences: typeof stop === "string" ? [stop] : stop,
      reasoning: data.reasoning_effort ?? data.reasoning?.effort,
    }),
    providerOptions: toProviderOptions(data, { textVerbosity: data.verbosity }),
  };
}

function toToolChoice(choice: ChatBody["tool_choice"]): Conversation["toolChoice"] {
  if (typeof choice === "string") return { type: choice };
  return choice ? { type: "tool", toolName: choice.function.name } : null;
}

function toMessage(message: ChatMessage): Message {
  const parts = markedLast(toParts(message), message);
  if (message.role === "tool") return { role: "user", parts };
  return { role: message.role === "developer" ? "system" : message.role, parts };
}

/** A message's mark is the mark of its last part. */
function markedLast(parts: Part[], { cache_control }: ChatMessage): Part[] {
  const last = parts.at(-1);
  if (last === undefined || !cache_control) return parts;
  return [...parts.slice(0, -1), { ...last, ...optionsOf(cache_control, last.providerOptions) }];
}

function toParts(message: ChatMessage): Part[] {
  const content = partsOf(message.content, toPart);
  if (message.role === "tool") {
    return [{ type: "toolResult", id: message.tool_call_id, parts: content, isError: false }];
  }
  if (message.role !== "assistant") return content;
  const { refusal, reasoning_content, reasoning } = message;
  const thought = reasoning_content ?? reasoning ?? "";
  const said = [...content, ...partsOf(refusal, toPart)];
  return [
    ...(thought === "" ? [] : [{ type: "reasoning" as const, text: thought, signature: null }]),
    // Some clients send a space for no text, which Anthropic's models refuse.
    ...said.filter((part) => part.type !== "text" || part.text.trim() !== ""),
    ...callsOf(message).map(toCall),
  ];
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
