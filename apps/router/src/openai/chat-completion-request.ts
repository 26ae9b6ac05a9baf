import { z } from "zod";
import { Refusal } from "../routes/refusal.ts";

const NOT_SUPPORTED = "not supported";

const textPartSchema = z.object({ type: z.literal("text"), text: z.string() });
const imagePartSchema = z.object({
  type: z.literal("image_url"),
  image_url: z.object({ url: z.string().regex(/^(https:|data:image\/)/, "is not https or data") }),
});
const textSchema = z.union(
  [z.string(), z.array(textPartSchema)],
  "neither text nor a list of text parts",
);
const userContentSchema = z.union(
  [z.string(), z.array(z.discriminatedUnion("type", [textPartSchema, imagePartSchema]))],
  "neither text nor a list of text and image parts",
);

const messageSchema = z.discriminatedUnion(
  "role",
  [
    z.object({ role: z.enum(["system", "developer"]), content: textSchema }),
    z.object({ role: z.literal("user"), content: userContentSchema }),
    z.object({ role: z.literal("assistant"), content: textSchema, tool_calls: nothing() }),
  ],
  "none of system, developer, user and assistant",
);

const chatCompletionRequestSchema = z.object({
  model: z.string(),
  messages: z.array(messageSchema).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  presence_penalty: z.number().nullish(),
  frequency_penalty: z.number().nullish(),
  seed: z.int().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  max_tokens: z.int().positive().nullish(),
  max_completion_tokens: z.int().positive().nullish(),
  reasoning_effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh"]).nullish(),
  n: only(1),
  logprobs: only(false),
  verbosity: only("medium"),
  tool_choice: only("none", "auto"),
  function_call: only("none", "auto"),
  modalities: z.array(z.literal("text", NOT_SUPPORTED)).nullish(),
  response_format: z.object({ type: z.literal("text", NOT_SUPPORTED) }).nullish(),
  audio: nothing(),
  functions: nothing(),
  logit_bias: nothing(),
  tools: nothing(),
  web_search_options: z.null(NOT_SUPPORTED).optional(), // an empty one asks for a search
});

/** One message of an OpenAI conversation. */
export type ChatCompletionMessage = z.infer<typeof messageSchema>;

/** What `POST /v1/chat/completions` is sent, as far as the router can do it. */
export type ChatCompletionRequest = z.infer<typeof chatCompletionRequestSchema>;

/**
 * Reads a request in OpenAI's form. What would change the reply and cannot be done, such as
 * tools, is refused; what would not, such as `user`, is passed over.
 *
 * @throws Refusal with status 400 that names the field.
 */
export function parseChatCompletionRequest(body: unknown): ChatCompletionRequest {
  const { data, error } = chatCompletionRequestSchema.safeParse(body);
  if (data) return data;
  const [issue] = error.issues;
  const field = issue?.path.join(".") || "the body";
  throw new Refusal(400, `This router cannot do this: ${field}: ${issue?.message}.`, {
    param: field,
  });
}

/** A field whose other values would change the reply. */
function only(...values: (string | number | boolean)[]) {
  return z.literal(values, NOT_SUPPORTED).nullish();
}

/** A field that says nothing, or says it at length. */
function nothing() {
  return z.union([z.null(), z.tuple([]), z.strictObject({})], NOT_SUPPORTED).optional();
}
