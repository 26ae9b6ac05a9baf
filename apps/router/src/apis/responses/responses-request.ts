import {
  givenOf,
  type Conversation,
  type Message,
  type ReasoningPart,
} from "../../conversation/conversation.ts";
import type { ApiRequest } from "../api.ts";
import { toPart, toProviderOptions } from "../openai-fields.ts";
import { invalidField, parseBody } from "../parse-body.ts";
import { joinSteps, partsOf, toFormat } from "../request-parts.ts";
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
  const { data, ...read } = parseBody(responsesSchema, input, neededFields);
  const { model, stream, tools } = data;
  const conversation = toConversation(data);
  const hosted = hostedTools.filter((name) => tools?.some(({ type }) => type === name));
  const isForced = conversation.toolChoice?.type === "required" && conversation.tools.length === 0;
  const message = "needs a tool that the client runs; define a function";
  return {
    ...read,
    model,
    conversation,
    isStreamed: stream === true,
    unread: [...read.unread, ...hosted.map((type) => `tools.${type}`)],
    unsupported:
      read.unsupported ?? (isForced ? invalidField({ path: ["tool_choice"], message }) : null),
  };
}

function toConversation(data: ResponsesBody): Conversation {
  const { instructions, input, text, reasoning } = data;
  const system: Item[] = instructions ? [{ role: "system", content: instructions }] : [];
  const items: Item[] = typeof input === "string" ? [{ role: "user", content: input }] : input;
  return {
    messages: joinSteps([...system, ...items].map(toMessage)),
    tools: toClientTools(data.tools).map(({ tool }) => tool),
    toolChoice: toToolChoice(data.tool_choice),
    format: toFormat(text?.format),
    settings: givenOf({
      temperature: data.temperature,
      topP: data.top_p,
      maxOutputTokens: data.max_output_tokens,
      reasoning: reasoning?.effort,
    }),
    providerOptions: toProviderOptions(data, {
      textVerbosity: text?.verbosity,
      reasoningSummary: reasoning?.summary,
      promptCacheKey: data.prompt_cache_key,
    }),
  };
}

function toToolChoice(choice: ResponsesBody["tool_choice"]): Conversation["toolChoice"] {
  if (typeof choice === "string") return { type: choice };
  return choice ? { type: "tool", toolName: toModelName(choice.name, choice.namespace) } : null;
}

type Item = Exclude<ResponsesBody["input"], string>[number];

function toMessage(item: Item): Message {
  if ("role" in item) {
    const role = item.role === "developer" ? "system" : item.role;
    return { role, parts: partsOf(item.content, toPart) };
  }
  if ("output" in item) {
    const result = { id: item.call_id, parts: partsOf(item.output, toPart), isError: false };
    return { role: "user", parts: [{ type: "toolResult", ...result }] };
  }
  if (item.type === "reasoning") return { role: "assistant", parts: [toReasoning(item)] };
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
