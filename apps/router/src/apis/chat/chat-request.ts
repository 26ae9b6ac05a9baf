import { z } from "zod";
import {
  withoutUndefined,
  type Conversation,
  type Message,
  type Part,
  type ToolCallPart,
} from "../../conversation/conversation.ts";
import type { ApiRequest } from "../api.ts";
import {
  content,
  findFormat,
  functionFields,
  markedFields,
  noLogprobs,
  onlyFunctions,
  openAiFields,
  toPart,
  toProviderOptions,
  verbosity,
} from "../openai-form.ts";
import { asksForNothing, invalidField, parseBody } from "../parse-body.ts";
import { repairHistory } from "../repair-history.ts";
import * as field from "../request-fields.ts";
import { joinSteps, listOptions, listParts, toFormat, toTool } from "../request-parts.ts";

/** Reads a request of the chat completions API. @throws HttpError (400) with the path of a wrong field. */
export function readChatRequest(requestBody: unknown): ApiRequest {
  const { body, repairs } = repairHistory("openai-chat", requestBody);
  const { data, ...read } = parseBody(chatSchema, body, neededFields);
  checkResults(data.messages);
  const isStreamed = data.stream === true;
  return { ...read, repairs, model: data.model, conversation: toConversation(data), isStreamed };
}

type ChatBody = z.infer<typeof chatSchema>;
type ChatMessage = ChatBody["messages"][number];

function checkResults(messages: readonly ChatMessage[]): void {
  let openCallIds = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message.role !== "tool") openCallIds = new Set(listCalls(message).map(({ id }) => id));
    else if (!openCallIds.delete(message.tool_call_id)) {
      const problem = "answers no tool call of the assistant message before it";
      throw invalidField({ path: ["messages", index, "tool_call_id"], message: problem });
    }
  }
}

function listCalls(message: ChatMessage) {
  return message.role === "assistant" ? (message.tool_calls ?? []) : [];
}

function toConversation(data: ChatBody): Conversation {
  const { stop, response_format: format } = data;
  return {
    messages: joinSteps(data.messages.map(toMessage)),
    tools: (data.tools ?? []).map((chatTool) => toTool({ ...chatTool, ...chatTool.function })),
    toolChoice: toToolChoice(data.tool_choice),
    format: toFormat(
      format?.type === "json_schema" ? { ...format, ...format.json_schema } : format,
    ),
    settings: withoutUndefined({
      temperature: data.temperature,
      topP: data.top_p,
      topK: data.top_k,
      presencePenalty: data.presence_penalty,
      frequencyPenalty: data.frequency_penalty,
      seed: data.seed,
      maxOutputTokens: Math.max(data.max_completion_tokens ?? 0, data.max_tokens ?? 0) || null,
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
  return [...parts.slice(0, -1), { ...last, ...listOptions(cache_control, last.providerOptions) }];
}

function toParts(message: ChatMessage): Part[] {
  const content = listParts(message.content, toPart);
  if (message.role === "tool") {
    return [{ type: "toolResult", id: message.tool_call_id, parts: content, isError: false }];
  }
  if (message.role !== "assistant") return content;
  const { refusal, reasoning_content, reasoning } = message;
  const thoughts = reasoning_content ?? reasoning ?? "";
  const contentParts = [...content, ...listParts(refusal, toPart)];
  return [
    ...(thoughts === "" ? [] : [{ type: "reasoning" as const, text: thoughts, signature: null }]),
    // Some clients send a space for no text, which Anthropic's models refuse.
    ...contentParts.filter((part) => part.type !== "text" || part.text.trim() !== ""),
    ...listCalls(message).map(toCall),
  ];
}

function toCall(chatCall: ReturnType<typeof listCalls>[number]): ToolCallPart {
  const { type, id } = chatCall;
  if (type === "custom") {
    const { name, input } = chatCall.custom;
    return { type: "toolCall", id, name, arguments: input, signature: null };
  }
  const signature = chatCall.extra_content?.google?.thought_signature ?? null;
  const options = signature === null ? {} : { google: { thoughtSignature: signature } };
  return { type: "toolCall", id, ...chatCall.function, signature, ...listOptions(null, options) };
}

/** Gemini's opaque values in its form of this API. */
const extra_content = z
  .object({ google: z.object({ thought_signature: field.text }).nullish() })
  .nullish();
const functionCall = z.object({ name: field.name, arguments: z.string() });
const customCall = z.object({ name: field.name, input: z.string() });
const id = field.name;
const toolCall = z.discriminatedUnion(
  "type",
  [
    z.object({ id, type: z.literal("function"), function: functionCall, extra_content }),
    z.object({ id, type: z.literal("custom"), custom: customCall }),
  ],
  "only function and custom calls are supported",
);
const messageSchema = z.discriminatedUnion(
  "role",
  [
    z.object({ role: z.enum(["system", "developer", "user"]), content, ...markedFields }),
    z.object({
      role: z.literal("assistant"),
      content: content.nullish(),
      refusal: field.text,
      reasoning_content: field.text,
      reasoning: field.text,
      tool_calls: z.array(toolCall).nullish(),
      ...neutral("not supported; send its transcript as content", { audio: null }),
      ...neutral("not supported; use tool_calls", { function_call: null }),
      ...markedFields,
    }),
    z.object({ role: z.literal("tool"), tool_call_id: z.string(), content, ...markedFields }),
  ],
  "none of system, developer, user, assistant and tool",
);

const toolSchema = z.object({
  type: z.literal("function", "not supported; only tools of the type function are"),
  function: z.object(functionFields),
  ...markedFields,
});
const chosenTool = z.object({
  type: z.literal("function", onlyFunctions),
  function: z.object({ name: field.name }),
});
const { parameters: schema, ...otherFields } = functionFields;

const onlyOneReply = "only 1 is supported; send the request as often as you want replies";
const insteadInWords = "not supported; ask for it in a message";
const notThisForm = "not known to this model; use response_format";
const notThisSampling = "not known to this model; use temperature, top_p or frequency_penalty";

/** The fields without which no server could read a conversation. */
const neededFields = ["model", "messages", "stream", "functions", "function_call"];

/** The fields that are read. A server of this API takes other values of the fields that are not needed. */
const chatSchema = z.object({
  ...openAiFields,
  messages: z.array(messageSchema).min(1),
  stream_options: z.object({ include_usage: field.flag }).nullish(),
  top_k: field.count, // not OpenAI's own, but many servers'
  presence_penalty: field.number,
  frequency_penalty: field.number,
  seed: z.int().nullish(),
  stop: z.union([z.string(), z.array(z.string())], "neither text nor a list of texts").nullish(),
  max_tokens: field.count,
  max_completion_tokens: field.count,
  reasoning_effort: field.effort,
  verbosity: verbosity.catch(null),
  tools: z.array(toolSchema).nullish(),
  tool_choice: z.union([z.enum(["none", "auto", "required"]), chosenTool]).nullish(),
  response_format: findFormat({ json_schema: z.object({ ...otherFields, schema }) }),
  function_call: z.enum(["none", "auto"], "not supported; use tool_choice").nullish(),
  modalities: z.array(z.literal("text", "not supported; replies are text")).nullish(),
  web_search_options: z.null("not supported; define your own tool in tools").optional(), // {} asks for a search
  ...neutral("not supported; use tools", { functions: null }),
  ...neutral("not supported; replies are text", { audio: null }),
  ...neutral(onlyOneReply, { n: 1, best_of: 1 }),
  ...neutral(noLogprobs, { logprobs: null, top_logprobs: 0 }),
  ...neutral(insteadInWords, { logit_bias: null, bad_words: null, ignore_eos: null }),
  ...neutral(insteadInWords, { length_penalty: 1, min_tokens: 0 }),
  ...neutral(notThisSampling, { min_p: 0, top_a: 0, mirostat: 0 }),
  ...neutral(notThisSampling, { tfs: 1, typical_p: 1, repetition_penalty: 1 }),
  ...neutral(notThisForm, { grammar: "", guided_regex: "", guided_grammar: "" }),
  ...neutral(notThisForm, { guided_json: null, guided_choice: null }),
});

/** Accepts the values that do not change the reply, and those that ask for nothing. */
function neutral<TName extends string>(
  instead: string,
  values: Record<TName, string | number | null>,
) {
  const toSchema = (neutralValue: unknown) =>
    z.custom((value) => value === neutralValue || asksForNothing(value), instead).optional();
  const neutralFields = Object.entries(values).map(([name, value]) => [name, toSchema(value)]);
  return Object.fromEntries(neutralFields) as Record<TName, ReturnType<typeof toSchema>>;
}
