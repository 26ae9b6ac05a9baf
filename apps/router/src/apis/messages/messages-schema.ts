import { z } from "zod";
import { isObject } from "../parse-body.ts";
import { orUnsupported } from "../unsupported.ts";

function contentOf<const TBlocks extends Parameters<typeof orUnsupported>[0]>(...blocks: TBlocks) {
  const block = orUnsupported(blocks, "send it as a block of the type text");
  return z.union([z.string(), z.array(block)], "neither text nor a list of blocks");
}

/** The object itself: a copy would lose a key such as `__proto__`. */
const jsonObject = z.custom<Readonly<Record<string, unknown>>>(
  (value) => isObject(value) && !Array.isArray(value),
  "not an object; send one",
);
const cacheControl = z
  .object({ type: z.literal("ephemeral"), ttl: z.enum(["5m", "1h"]).nullish() })
  .transform(({ type, ttl }) => (ttl ? { type, ttl } : { type }))
  .nullish();

function blockOf<const TType extends string, TFields extends z.ZodRawShape>(
  type: TType,
  fields: TFields,
) {
  return z.object({ type: z.literal(type), ...fields, cache_control: cacheControl });
}

const name = z.string().min(1);
const url = z
  .string()
  .refine((url) => url.startsWith("https:") && URL.canParse(url), "is not https");
const base64Source = z.object({
  type: z.literal("base64"),
  media_type: z.string().regex(/^[\w.+-]{1,64}\/[\w.+-]{1,64}$/, "is not a media type"),
  data: z.string().refine((data) => !/[^\w+/=]/.test(data), "is not base64"),
});
const urlSource = z.object({ type: z.literal("url"), url });
const textSource = z.object({ type: z.literal("text"), data: z.string() });

const text = blockOf("text", { text: z.string() });
const image = blockOf("image", {
  source: orUnsupported([base64Source, urlSource], "send the image itself as base64"),
});
const document = blockOf("document", {
  source: orUnsupported(
    [base64Source, urlSource, textSource],
    "send the document itself as base64",
  ),
  title: z.string().nullish(),
});
const thinking = blockOf("thinking", { thinking: z.string(), signature: z.string().nullish() });
const redactedThinking = blockOf("redacted_thinking", { data: z.string() });
const toolUse = blockOf("tool_use", { id: name, name, input: jsonObject });
const toolReference = blockOf("tool_reference", { tool_name: z.string() });
const toolResult = blockOf("tool_result", {
  tool_use_id: z.string(),
  content: contentOf(text, image, document, toolReference).nullish(),
  is_error: z.boolean().nullish(),
});

const ofUser = contentOf(text, image, document, toolResult);
const ofAssistant = contentOf(text, thinking, redactedThinking, toolUse);
const message = z.discriminatedUnion(
  "role",
  [
    z.object({ role: z.literal("user"), content: ofUser }),
    z.object({ role: z.literal("assistant"), content: ofAssistant }),
    z.object({ role: z.literal("system"), content: contentOf(text) }),
  ],
  "none of user, assistant and system",
);
const tool = z.object({
  type: z.literal("custom").nullish(),
  name,
  description: z.string().nullish(),
  input_schema: jsonObject,
  strict: z.boolean().nullish(),
  cache_control: cacheControl,
});
const serial = { disable_parallel_tool_use: z.boolean().nullish() };
const toolChoice = z.discriminatedUnion(
  "type",
  [
    z.object({ type: z.enum(["auto", "any", "none"]), ...serial }),
    z.object({ type: z.literal("tool"), name, ...serial }),
  ],
  "none of auto, any, tool and none",
);
const format = z.object({
  type: z.literal("json_schema", "not supported; use json_schema"),
  schema: jsonObject,
});

const effort = z.enum(["low", "medium", "high", "xhigh", "max"]);

/** The fields that are read from a request; one to count tokens has no `max_tokens`. */
export const messagesRequestSchema = z.object({
  model: name,
  max_tokens: z.int().positive().nullish(),
  system: contentOf(text).nullish(),
  messages: z.array(message).min(1),
  stream: z.boolean().nullish(),
  tools: z.array(orUnsupported([tool], "define a tool by its input_schema and run it")).nullish(),
  tool_choice: toolChoice.nullish(),
  thinking: z.object({ type: z.string(), budget_tokens: z.int().positive().nullish() }).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  top_k: z.int().nullish(),
  stop_sequences: z.array(z.string()).nullish(),
  metadata: z.object({ user_id: z.string().nullish() }).nullish(),
  output_config: z
    .object({ effort: effort.nullish().catch(null), format: format.nullish() })
    .nullish(),
  output_format: format.nullish(),
  cache_control: cacheControl,
  thread: z.null("not supported; send the whole conversation").optional(),
});

/** A request in the API's form. */
export type MessagesRequest = z.infer<typeof messagesRequestSchema>;

type BlockOf<TContent> = Extract<TContent, readonly unknown[]>[number];

/** A block of a message. */
export type Block = BlockOf<MessagesRequest["messages"][number]["content"]>;

/** A block of a result. */
export type ResultBlock = BlockOf<z.infer<typeof toolResult>["content"]>;

/** A tool that the client runs. */
export type ClientTool = z.infer<typeof tool>;
