import { z } from "zod";
import {
  content,
  formatOf,
  functionFields,
  marked,
  openAiFields,
  verbosity,
} from "../openai-fields.ts";
import { asksForNothing } from "../parse-body.ts";
import * as field from "../request-fields.ts";

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
const message = z.discriminatedUnion(
  "role",
  [
    z.object({ role: z.enum(["system", "developer", "user"]), content, ...marked }),
    z.object({
      role: z.literal("assistant"),
      content: content.nullish(),
      refusal: field.text,
      reasoning_content: field.text,
      reasoning: field.text,
      tool_calls: z.array(toolCall).nullish(),
      ...neutral("not supported; send its transcript as content", { audio: null }),
      ...neutral("not supported; use tool_calls", { function_call: null }),
      ...marked,
    }),
    z.object({ role: z.literal("tool"), tool_call_id: z.string(), content, ...marked }),
  ],
  "none of system, developer, user, assistant and tool",
);

const tool = z.object({
  type: z.literal("function", "not supported; only tools of the type function are"),
  function: z.object(functionFields),
  ...marked,
});
const chosenTool = z.object({
  type: z.literal("function", "not supported; send only the tools that may be called"),
  function: z.object({ name: field.name }),
});
const { parameters: schema, ...named } = functionFields;

const once = "only 1 is supported; send the request as often as you want replies";
const noLogprobs = "not supported, as replies carry no log-probabilities; leave it out";
const inWords = "not supported; ask for it in a message";
const form = "not known to this model; use response_format";
const sampling = "not known to this model; use temperature, top_p or frequency_penalty";

/** The fields without which no server could read a conversation. */
export const neededFields = ["model", "messages", "stream", "functions", "function_call"];

/** The fields that are read. A server of this API takes other values of the fields that are not needed. */
export const chatSchema = z.object({
  ...openAiFields,
  messages: z.array(message).min(1),
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
  tools: z.array(tool).nullish(),
  tool_choice: z.union([z.enum(["none", "auto", "required"]), chosenTool]).nullish(),
  response_format: formatOf({ json_schema: z.object({ ...named, schema }) }),
  function_call: z.enum(["none", "auto"], "not supported; use tool_choice").nullish(),
  modalities: z.array(z.literal("text", "not supported; replies are text")).nullish(),
  web_search_options: z.null("not supported; define your own tool in tools").optional(), // {} asks for a search
  ...neutral("not supported; use tools", { functions: null }),
  ...neutral("not supported; replies are text", { audio: null }),
  ...neutral(once, { n: 1, best_of: 1 }),
  ...neutral(noLogprobs, { logprobs: null, top_logprobs: 0 }),
  ...neutral(inWords, { logit_bias: null, bad_words: null, ignore_eos: null }),
  ...neutral(inWords, { length_penalty: 1, min_tokens: 0 }),
  ...neutral(sampling, { min_p: 0, top_a: 0, mirostat: 0 }),
  ...neutral(sampling, { tfs: 1, typical_p: 1, repetition_penalty: 1 }),
  ...neutral(form, { grammar: "", guided_regex: "", guided_grammar: "" }),
  ...neutral(form, { guided_json: null, guided_choice: null }),
});

/** A request's fields. */
export type ChatBody = z.infer<typeof chatSchema>;

/** Accepts the values that do not change the reply, and those that ask for nothing. */
function neutral<TName extends string>(
  instead: string,
  values: Record<TName, string | number | null>,
) {
  const toSchema = (neutralValue: unknown) =>
    z.custom((value) => value === neutralValue || asksForNothing(value), instead).optional();
  const fields = Object.entries(values).map(([name, value]) => [name, toSchema(value)]);
  return Object.fromEntries(fields) as Record<TName, ReturnType<typeof toSchema>>;
}
