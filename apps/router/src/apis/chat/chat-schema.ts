import { z } from "zod";
import { asksForNothing } from "../parse-body.ts";

const name = z.string().regex(/^[\w.-]{1,128}$/, "is not a name of letters, digits and _ . -");
const cache_control = z.record(z.string(), z.json()).nullish();

function partOf<TType extends string, TShape extends z.ZodRawShape>(type: TType, shape: TShape) {
  return z.object({ type: z.literal(type), ...shape, cache_control });
}

const textPart = partOf("text", { text: z.string() });
const refusalPart = partOf("refusal", { refusal: z.string() });
const imagePart = partOf("image_url", {
  image_url: z.object({
    url: z.string().refine(isImageAddress, "is not https or data; send an https or data: address"),
    detail: z.enum(["auto", "low", "high", "original"]).nullish(),
  }),
});
const audioPart = partOf("input_audio", {
  input_audio: z.object({
    data: z.base64(),
    format: z.enum(["wav", "mp3"], "is neither wav nor mp3; convert it"),
  }),
});
const filePart = partOf("file", {
  file: z.object({
    file_data: z
      .string("missing; send the file itself as file_data, a data: address")
      .regex(/^data:[\w.+-]+\/[\w.+-]+;base64,/, "is not a data: address with base64"),
    filename: z.string().nullish(),
  }),
});

function isImageAddress(url: string): boolean {
  return url.startsWith("https:") ? URL.canParse(url) : /^data:image\/[^,]*,/.test(url);
}

const textContent = z.union(
  [z.string(), z.array(z.discriminatedUnion("type", [textPart, refusalPart]))],
  "neither text nor a list of text parts",
);
const anyContent = z.union(
  [z.string(), z.array(z.discriminatedUnion("type", [textPart, imagePart, audioPart, filePart]))],
  "neither text nor a list of text, image_url, input_audio and file parts",
);

/** Gemini's opaque values in its form of this API. */
const extra_content = z
  .object({ google: z.object({ thought_signature: z.string().nullish() }).nullish() })
  .nullish();
const id = z.string().min(1);
const toolCall = z.discriminatedUnion(
  "type",
  [
    z.object({
      id,
      type: z.literal("function"),
      function: z.object({ name, arguments: z.string() }),
      extra_content,
    }),
    z.object({ id, type: z.literal("custom"), custom: z.object({ name, input: z.string() }) }),
  ],
  "only function and custom calls are supported",
);

const message = z.discriminatedUnion(
  "role",
  [
    z.object({ role: z.enum(["system", "developer"]), content: textContent, cache_control }),
    z.object({ role: z.literal("user"), content: anyContent, cache_control }),
    z.object({
      role: z.literal("assistant"),
      content: textContent.nullish(),
      refusal: z.string().nullish(),
      reasoning_content: z.string().nullish(),
      reasoning: z.string().nullish(),
      tool_calls: z.array(toolCall).nullish(),
      cache_control,
      audio: nothing("not supported; send its transcript as content"),
      function_call: nothing("not supported; use tool_calls"),
    }),
    z.object({
      role: z.literal("tool"),
      tool_call_id: z.string(),
      content: anyContent,
      cache_control,
    }),
  ],
  "none of system, developer, user, assistant and tool",
);

const jsonSchema = z.record(z.string(), z.unknown());
const tool = z.object({
  type: z.literal("function", "not supported; only tools of the type function are"),
  function: z.object({
    name,
    description: z.string().nullish(),
    parameters: jsonSchema.nullish(),
    strict: z.boolean().nullish(),
  }),
  cache_control,
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
const responseFormat = z.discriminatedUnion(
  "type",
  [
    z.object({ type: z.enum(["text", "json_object"]) }),
    z.object({
      type: z.literal("json_schema"),
      json_schema: z.object({
        name: z.string(),
        description: z.string().nullish(),
        schema: jsonSchema.nullish(),
        strict: z.boolean().nullish(),
      }),
    }),
  ],
  "not supported; use text, json_object or json_schema",
);
const effort = z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]).nullish();

const once = "only 1 is supported; send the request as often as you want replies";
const noLogprobs = "not supported, as replies carry no log-probabilities; leave it out";
const inWords = "not supported; ask for it in a message";
const form = "not known to this model; use response_format";
const sampling = "not known to this model; use temperature, top_p or frequency_penalty";

/** The fields without which no server could read a conversation. */
export const neededFields = ["model", "messages", "stream", "functions", "function_call"];

/** The fields that are read. A server of this API takes other values of the fields that are not needed. */
export const chatSchema = z.object({
  model: z.string().min(1),
  messages: z.array(message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  top_k: z.int().positive().nullish(), // not OpenAI's own, but many servers'
  presence_penalty: z.number().nullish(),
  frequency_penalty: z.number().nullish(),
  seed: z.int().nullish(),
  stop: z.union([z.string(), z.array(z.string())], "neither text nor a list of texts").nullish(),
  max_tokens: z.int().positive().nullish(),
  max_completion_tokens: z.int().positive().nullish(),
  reasoning_effort: effort,
  reasoning: z.object({ effort }).nullish(),
  verbosity: z.unknown().optional(),
  tools: z.array(tool).nullish(),
  tool_choice: toolChoice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  response_format: responseFormat.nullish(),
  user: z.string().nullish(),
  functions: nothing("not supported; use tools"),
  function_call: z.enum(["none", "auto"], "not supported; use tool_choice").nullish(),
  n: only(1, once),
  best_of: only(1, once),
  logprobs: only(false, noLogprobs),
  top_logprobs: only(0, noLogprobs),
  logit_bias: nothing(inWords),
  bad_words: nothing(inWords),
  length_penalty: only(1, inWords),
  min_tokens: only(0, inWords),
  ignore_eos: only(false, inWords),
  min_p: only(0, sampling),
  top_a: only(0, sampling),
  tfs: only(1, sampling),
  typical_p: only(1, sampling),
  mirostat: only(0, sampling),
  repetition_penalty: only(1, sampling),
  grammar: only("", form),
  guided_json: nothing(form),
  guided_regex: only("", form),
  guided_choice: nothing(form),
  guided_grammar: only("", form),
  modalities: z.array(z.literal("text", "not supported; replies are text")).nullish(),
  audio: nothing("not supported; replies are text"),
  web_search_options: z.null("not supported; define your own tool in tools").optional(), // {} asks for a search
});

/** A request's fields. */
export type ChatBody = z.infer<typeof chatSchema>;

/** One message of a request. */
export type ChatMessage = ChatBody["messages"][number];

/** Accepts the value that does not change the reply. */
function only(neutral: string | number | boolean, instead: string) {
  return z.literal(neutral, instead).nullish();
}

function nothing(instead: string) {
  return z.custom<null>(asksForNothing, instead).optional();
}
