import { HTTPException } from "hono/http-exception";
import { z } from "zod";

const textPartSchema = z.object({ type: z.literal("text"), text: z.string() });
const imagePartSchema = z.object({
  type: z.literal("image_url"),
  image_url: z.object({ url: z.string().regex(/^(https:|data:image\/)/, "is not https or data") }),
});
const textSchema = z.union([z.string(), z.array(textPartSchema)]);

const messageSchema = z.discriminatedUnion("role", [
  z.object({ role: z.enum(["system", "developer"]), content: textSchema }),
  z.object({
    role: z.literal("user"),
    content: z.union([
      z.string(),
      z.array(z.discriminatedUnion("type", [textPartSchema, imagePartSchema])),
    ]),
  }),
  z.object({ role: z.literal("assistant"), content: textSchema, tool_calls: nothing() }),
]);

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
  n: z.literal(1).nullish(),
  response_format: z.object({ type: z.literal("text") }).nullish(),
  logprobs: z.literal(false).nullish(),
  audio: nothing(),
  tools: nothing(),
  functions: nothing(),
});

/** One message of an OpenAI conversation. */
export type ChatCompletionMessage = z.infer<typeof messageSchema>;

/** What `POST /v1/chat/completions` is sent, as far as the router can do it. */
export type ChatCompletionRequest = z.infer<typeof chatCompletionRequestSchema>;

/**
 * Reads a request in OpenAI's form. What would change the reply and cannot be done, such as
 * tools, is refused; what would not, such as `user`, is passed over.
 *
 * @throws HTTPException with status 400 that names the field.
 */
export function parseChatCompletionRequest(body: unknown): ChatCompletionRequest {
  const { data, error } = chatCompletionRequestSchema.safeParse(body);
  if (data) return data;
  const [issue] = error.issues;
  const field = issue?.path.join(".") || "the body";
  throw new HTTPException(400, {
    message: `This router cannot do this: ${field}: ${issue?.message}.`,
  });
}

function nothing() {
  return z.union([z.null(), z.array(z.never())], "is not supported").optional();
}
