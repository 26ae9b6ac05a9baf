import { z } from "zod";
import {
  type Conversation,
  withoutUndefined,
  type JsonSchema,
  type Message,
  type Part,
  type Tool,
} from "../../conversation/conversation.ts";
import type { ApiRequest } from "../api.ts";
import {
  content,
  findFormat,
  functionFields,
  noLogprobs,
  onlyFunctions,
  openAiFields,
  textPart,
  toPart,
  toProviderOptions,
  verbosity,
} from "../openai-form.ts";
import { invalidField, parseBody } from "../parse-body.ts";
import { repairHistory } from "../repair-history.ts";
import * as field from "../request-fields.ts";
import { joinSteps, listParts, toFormat, toTool } from "../request-parts.ts";

/** Reads a request of the Responses API. @throws HttpError (400) with the path of a wrong field. */
export function readResponsesRequest(requestBody: unknown): ApiRequest {
  const { body, repairs } = repairHistory("openai-responses", requestBody);
  const { data, ...read } = parseBody(responsesSchema, body, neededFields);
  const { model, stream, tools } = data;
  // A template of the service may have all of the input.
  if ((data.input ?? read.body["prompt"] ?? null) === null)
    throw invalidField({ path: ["input"], message: noInput });
  const conversation = toConversation(data);
  const hostedTypes = hostedTools.filter((name) => tools?.some(({ type }) => type === name));
  const isForced = conversation.toolChoice?.type === "required" && conversation.tools.length === 0;
  const message = "needs a tool that the client runs; define a function";
  return {
    ...read,
    repairs,
    model,
    conversation,
    isStreamed: stream === true,
    unread: [...read.unread, ...hostedTypes.map((type) => `tools.${type}`)],
    unsupported:
      read.unsupported ?? (isForced ? invalidField({ path: ["tool_choice"], message }) : null),
  };
}

function toConversation(responsesBody: ResponsesBody): Conversation {
  const { instructions, input, text, reasoning } = responsesBody;
  const systemItems: Item[] = instructions ? [{ role: "system", content: instructions }] : [];
  const inputItems: Item[] =
    typeof input === "string" ? [{ role: "user", content: input }] : (input ?? []);
  return {
    messages: joinSteps([...systemItems, ...inputItems].map(toMessage)),
    tools: toClientTools(responsesBody.tools).map(({ tool }) => tool),
    toolChoice: toToolChoice(responsesBody.tool_choice),
    format: toFormat(text?.format),
    settings: withoutUndefined({
      temperature: responsesBody.temperature,
      topP: responsesBody.top_p,
      maxOutputTokens: responsesBody.max_output_tokens,
      reasoning: reasoning?.effort,
    }),
    providerOptions: toProviderOptions(responsesBody, {
      textVerbosity: text?.verbosity,
      reasoningSummary: reasoning?.summary,
      promptCacheKey: responsesBody.prompt_cache_key,
    }),
  };
}

function toToolChoice(choice: ResponsesBody["tool_choice"]): Conversation["toolChoice"] {
  if (typeof choice === "string") return { type: choice };
  return choice ? { type: "tool", toolName: toModelName(choice.name, choice.namespace) } : null;
}

type Item = Exclude<NonNullable<ResponsesBody["input"]>, string>[number];

function toMessage(item: Item): Message {
  if ("role" in item) {
    const role = item.role === "developer" ? "system" : item.role;
    return { role, parts: listParts(item.content, toPart) };
  }
  if ("output" in item) {
    const result = { id: item.call_id, parts: listParts(item.output, toPart), isError: false };
    return { role: "user", parts: [{ type: "toolResult", ...result }] };
  }
  if (item.type === "reasoning") return { role: "assistant", parts: [toReasoning(item)] };
  const call = { id: item.call_id, name: toModelName(item.name, item.namespace), signature: null };
  const argumentText = "input" in item ? JSON.stringify({ input: item.input }) : item.arguments;
  return { role: "assistant", parts: [{ type: "toolCall", ...call, arguments: argumentText }] };
}

/** OpenAI binds encrypted content to its own id, and takes it without an id too. */
function toReasoning(reasoningItem: Extract<Item, { type: "reasoning" }>): Part {
  const { id, summary, content, encrypted_content: signature = null } = reasoningItem;
  const texts = content?.length ? content : (summary ?? []);
  const text = texts.map((part) => part.text).join("\n\n");
  const itemId = id?.startsWith("rs_") ? id : null;
  const isOpenAi = itemId !== null || signature?.startsWith("gAAAA"); // how its content begins
  const openai = withoutUndefined({ itemId, reasoningEncryptedContent: signature });
  return { type: "reasoning", text, signature, ...(isOpenAi && { providerOptions: { openai } }) };
}

const callFields = { call_id: field.name, name: field.name, namespace: field.text };
const itemSchema = z.discriminatedUnion(
  "type",
  [
    z.object({
      type: z.literal("message").nullish(),
      role: z.enum(["user", "assistant", "system", "developer"]),
      content,
    }),
    z.object({ type: z.literal("function_call"), ...callFields, arguments: z.string() }),
    z.object({ type: z.literal("custom_tool_call"), ...callFields, input: z.string() }),
    z.object({
      type: z.enum(["function_call_output", "custom_tool_call_output"]),
      call_id: field.name,
      output: content,
    }),
    z.object({
      type: z.literal("reasoning"),
      id: field.text,
      summary: z.array(textPart).nullish(),
      content: z.array(textPart).nullish(),
      encrypted_content: field.text,
    }),
  ],
  "not supported; send the conversation as messages, calls and outputs, with store: false",
);

const onlyOwnTools = "not supported; define it as a function, and run it";
const { name, description, strict } = functionFields;
const functionTool = z.object({ type: z.literal("function"), ...functionFields });
const customTool = z.object({
  type: z.literal("custom"),
  name,
  description,
  format: z
    .object({ type: z.enum(["text", "grammar"]), syntax: field.text, definition: field.text })
    .nullish(),
});
const ownToolSchemas = [functionTool, customTool] as const;
const namespace = z.object({
  type: z.literal("namespace"),
  name,
  tools: z.array(z.discriminatedUnion("type", ownToolSchemas, onlyOwnTools)),
});
/** Tools that OpenAI runs: Codex sends them to every server, and a model can reply without them. */
const hostedTools = ["web_search", "image_generation", "tool_search"] as const;
const hostedTool = z.looseObject({ type: z.enum(hostedTools) });
const toolSchemas = [...ownToolSchemas, namespace, hostedTool] as const;
const toolsSchema = z.array(z.discriminatedUnion("type", toolSchemas, onlyOwnTools)).nullish();
const chosenToolSchema = z.object({
  type: z.enum(["function", "custom"], onlyFunctions),
  name,
  namespace: field.text,
});

const noInput = "neither text nor a list of items";
const format = findFormat({ name, description, schema: field.jsonObject, strict });

const notStored = "replies are not stored; send the whole conversation as input";
const serverState = {
  store: z.literal(false, notStored).nullish(),
  background: z.literal(false, "not supported; use stream").nullish(),
  previous_response_id: z.null(notStored).optional(),
  conversation: z.null(notStored).optional(),
};

/** The fields without which there is no decision, or which no server may honour. */
const neededFields = ["model", "input", "stream", ...Object.keys(serverState)];

/** The fields that are read. A server of this API takes other values of the fields that are not needed. */
export const responsesSchema = z.object({
  ...openAiFields,
  ...serverState,
  instructions: field.text,
  input: z.union([z.string(), z.array(itemSchema)], noInput).nullish(),
  max_output_tokens: field.count,
  tools: toolsSchema,
  tool_choice: z.union([z.enum(["none", "auto", "required"]), chosenToolSchema]).nullish(),
  text: z.object({ format, verbosity }).nullish(),
  prompt_cache_key: field.text,
  include: z.unknown().optional(),
  metadata: z.unknown().optional(),
  prompt: z.null("not supported; send its text as instructions").optional(),
  top_logprobs: z.literal(0, noLogprobs).nullish(),
});

/** A request's fields. */
export type ResponsesBody = z.infer<typeof responsesSchema>;

/** A tool as the client knows it, and as the model does. */
export interface ClientTool {
  readonly type: "function" | "custom";
  readonly name: string;
  readonly namespace: string | null;
  /** A custom tool is a function with its text as `input`. */
  readonly tool: Tool;
}

type GivenTool = NonNullable<z.infer<typeof toolsSchema>>[number];

/** Returns the tools that a model can call; those of namespaces are flattened. */
export function toClientTools(
  tools: readonly GivenTool[] | null | undefined,
  namespace: string | null = null,
): ClientTool[] {
  return (tools ?? []).flatMap((givenTool) => {
    if (givenTool.type === "namespace") return toClientTools(givenTool.tools, givenTool.name);
    if (givenTool.type !== "function" && givenTool.type !== "custom") return [];
    const { type, name } = givenTool;
    const own = { ...givenTool, name: toModelName(name, namespace) };
    const tool = toTool(type === "custom" ? { ...own, parameters: toInputSchema(givenTool) } : own);
    return [{ type, name, namespace, tool }];
  });
}

/** Returns a tool's name for a model, which knows no namespaces. */
function toModelName(toolName: string, namespace: string | null | undefined): string {
  if (!namespace || namespace === "functions") return toolName; // Codex's name of the default one
  return namespace.endsWith("__") ? `${namespace}${toolName}` : `${namespace}__${toolName}`;
}

function toInputSchema({ format }: Extract<GivenTool, { type: "custom" }>): JsonSchema {
  const { syntax, definition } = format ?? {};
  const grammarText = definition ? ` Its ${syntax ?? "lark"} grammar:\n${definition}` : "";
  const input = { type: "string", description: `The whole input as plain text.${grammarText}` };
  return {
    type: "object",
    properties: { input },
    required: ["input"],
    additionalProperties: false,
  };
}
