import { z } from "zod";
import {
  content,
  formatOf,
  functionFields,
  openAiFields,
  textPart,
  verbosity,
} from "../openai-fields.ts";
import * as field from "../request-fields.ts";

const call = { call_id: field.name, name: field.name, namespace: field.text };
const item = z.discriminatedUnion(
  "type",
  [
    z.object({
      type: z.literal("message").nullish(),
      role: z.enum(["user", "assistant", "system", "developer"]),
      content,
    }),
    z.object({ type: z.literal("function_call"), ...call, arguments: z.string() }),
    z.object({ type: z.literal("custom_tool_call"), ...call, input: z.string() }),
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

const ownTool = "not supported; define it as a function, and run it";
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
const ownTools = [functionTool, customTool] as const;
const namespace = z.object({
  type: z.literal("namespace"),
  name,
  tools: z.array(z.discriminatedUnion("type", ownTools, ownTool)),
});
/** Tools that OpenAI runs: Codex sends them to every server, and a model can reply without them. */
export const hostedTools = ["web_search", "image_generation", "tool_search"] as const;
const hostedTool = z.looseObject({ type: z.enum(hostedTools) });
const tools = [...ownTools, namespace, hostedTool] as const;
const chosenTool = z.object({
  type: z.enum(["function", "custom"], "not supported; send only the tools that may be called"),
  name,
  namespace: field.text,
});
const format = formatOf({ name, description, schema: field.jsonObject, strict });

const notStored = "replies are not stored; send the whole conversation as input";
const serverState = {
  store: z.literal(false, notStored).nullish(),
  background: z.literal(false, "not supported; use stream").nullish(),
  previous_response_id: z.null(notStored).optional(),
  conversation: z.null(notStored).optional(),
};

/** The fields without which there is no decision, or which no server may honour. */
export const neededFields = ["model", "input", "stream", ...Object.keys(serverState)];

/** The fields that are read. A server of this API takes other values of the fields that are not needed. */
export const responsesSchema = z.object({
  ...openAiFields,
  ...serverState,
  instructions: field.text,
  input: z.union([z.string(), z.array(item)], "neither text nor a list of items"),
  max_output_tokens: field.count,
  tools: z.array(z.discriminatedUnion("type", tools, ownTool)).nullish(),
  tool_choice: z.union([z.enum(["none", "auto", "required"]), chosenTool]).nullish(),
  text: z.object({ format, verbosity }).nullish(),
  prompt_cache_key: field.text,
  include: z.unknown().optional(),
  metadata: z.unknown().optional(),
  prompt: z.null("not supported; send its text as instructions").optional(),
  top_logprobs: z.literal(0, "not supported, as replies carry no log-probabilities").nullish(),
});

/** A request's fields. */
export type ResponsesBody = z.infer<typeof responsesSchema>;
