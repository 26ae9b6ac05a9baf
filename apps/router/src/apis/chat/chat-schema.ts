import { z } from "zod";
import { asksForNothing } from "../parse-body.ts";
import {
  audio,
  contentOf,
  count,
  described,
  effort,
  fileData,
  flag,
  formatOf,
  imageDetail,
  imageUrl,
  jsonObject,
  name,
  sampling,
  text,
} from "../request-fields.ts";

const marked = { cache_control: z.record(z.string(), z.json()).nullish() };

const part = z.discriminatedUnion(
  "type",
  [
    z.object({ type: z.literal("text"), text: z.string(), ...marked }),
    z.object({ type: z.literal("refusal"), refusal: z.string(), ...marked }),
    z.object({
      type: z.literal("image_url"),
      image_url: z.object({ url: imageUrl, detail: imageDetail }),
      ...marked,
    }),
    z.object({ type: z.literal("input_audio"), input_audio: audio, ...marked }),
    z.object({
      type: z.literal("file"),
      file: z.object({ file_data: fileData, filename: text }),
      ...marked,
    }),
  ],
  "not supported; send it as text",
);
const content = contentOf(part);

/** Gemini's opaque values in its form of this API. */
const extra_content = z
  .object({ google: z.object({ thought_signature: text }).nullish() })
  .nullish();
const toolCall = z.discriminatedUnion(
  "type",
  [
    z.object({
      id: name,
      type: z.literal("function"),
      function: z.object({ name, arguments: z.string() }),
      extra_content,
    }),
    z.object({
      id: name,
      type: z.literal("custom"),
      custom: z.object({ name, input: z.string() }),
    }),
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
      refusal: text,
      reasoning_content: text,
      reasoning: text,
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
  function: z.object({ ...described, parameters: jsonObject.nullish(), strict: flag }),
  ...marked,
});
const toolChoice = z.union(
  [
    z.enum(["none", "auto", "required"]),
    z.object({
      type: z.literal("function", "not supported; send only the tools that may be called"),
      function: z.object({ name }),
    }),
  ],
  "none of none, auto, required and a named function",
);
const json_schema = z.object({ ...described, schema: jsonObject.nullish(), strict: flag });

/** The fields without which no server could read a conversation. */
export const neededFields = ["model", "messages", "stream", "functions", "function_call"];

/** The fields that are read. A server of this API takes other values of the fields that are not needed. */
export const chatSchema = z.object({
  model: name,
  messages: z.array(message).min(1),
  stream: flag,
  stream_options: z.object({ include_usage: flag }).nullish(),
  ...sampling,
  top_k: count, // not OpenAI's own, but many servers'
  presence_penalty: z.number().nullish(),
  frequency_penalty: z.number().nullish(),
  seed: z.int().nullish(),
  stop: z.union([z.string(), z.array(z.string())], "neither text nor a list of texts").nullish(),
  max_tokens: count,
  max_completion_tokens: count,
  reasoning_effort: effort,
  reasoning: z.object({ effort }).nullish(),
  verbosity: z.enum(["low", "medium", "high"]).nullish().catch(null),
  tools: z.array(tool).nullish(),
  tool_choice: toolChoice.nullish(),
  parallel_tool_calls: flag,
  response_format: formatOf({ json_schema }),
  user: text,
  function_call: z.enum(["none", "auto"], "not supported; use tool_choice").nullish(),
  modalities: z.array(z.literal("text", "not supported; replies are text")).nullish(),
  web_search_options: z.null("not supported; define your own tool in tools").optional(), // {} asks for a search
  ...neutral("not supported; use tools", { functions: null }),
  ...neutral("not supported; replies are text", { audio: null }),
  ...neutral("only 1 is supported; send the request as often as you want replies", {
    n: 1,
    best_of: 1,
  }),
  ...neutral("not supported, as replies carry no log-probabilities; leave it out", {
    logprobs: null,
    top_logprobs: 0,
  }),
  ...neutral("not supported; ask for it in a message", {
    logit_bias: null,
    bad_words: null,
    length_penalty: 1,
    min_tokens: 0,
    ignore_eos: null,
  }),
  ...neutral("not known to this model; use temperature, top_p or frequency_penalty", {
    min_p: 0,
    top_a: 0,
    tfs: 1,
    typical_p: 1,
    mirostat: 0,
    repetition_penalty: 1,
  }),
  ...neutral("not known to this model; use response_format", {
    grammar: "",
    guided_json: null,
    guided_regex: "",
    guided_choice: null,
    guided_grammar: "",
  }),
});

/** A request's fields. */
export type ChatBody = z.infer<typeof chatSchema>;

/** One message of a request. */
export type ChatMessage = ChatBody["messages"][number];

/** Accepts the values that do not change the reply, and those that ask for nothing. */
function neutral<TName extends string>(
  instead: string,
  values: Record<TName, string | number | null>,
) {
  const toSchema = (neutralValue: unknown) =>
    z.custom((value) => value === neutralValue || asksForNothing(value), instead).optional();
  const fields = Object.entries(values).map(([field, value]) => [field, toSchema(value)]);
  return Object.fromEntries(fields) as Record<TName, ReturnType<typeof toSchema>>;
}
