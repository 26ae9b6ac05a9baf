import { z } from "zod";
import {
  contentOf,
  count,
  effort,
  flag,
  httpsUrl,
  jsonObject,
  name,
  sampling,
  text,
} from "../request-fields.ts";

const marked = {
  cache_control: z
    .object({ type: z.literal("ephemeral"), ttl: z.enum(["5m", "1h"]).nullish() })
    .transform(({ type, ttl }) => (ttl ? { type, ttl } : { type }))
    .nullish(),
};

function blocksOf<TBlocks extends readonly [z.ZodObject, ...z.ZodObject[]]>(...blocks: TBlocks) {
  const instead = "not supported; send it as a block of the type text";
  return contentOf(z.discriminatedUnion("type", blocks, instead));
}

const source = z.discriminatedUnion(
  "type",
  [
    z.object({
      type: z.literal("base64"),
      media_type: z.string().regex(/^[\w.+-]{1,64}\/[\w.+-]{1,64}$/, "is not a media type"),
      data: z.string().refine((data) => !/[^\w+/=]/.test(data), "is not base64"),
    }),
    z.object({ type: z.literal("url"), url: httpsUrl }),
    z.object({ type: z.literal("text"), data: z.string() }),
  ],
  "not supported; send the image itself or the document itself as base64",
);
const textBlock = z.object({ type: z.literal("text"), text: z.string(), ...marked });
const image = z.object({ type: z.literal("image"), source, ...marked });
const document = z.object({ type: z.literal("document"), source, title: text, ...marked });
const toolReference = z.object({ type: z.literal("tool_reference"), tool_name: z.string() });
const resultContent = blocksOf(textBlock, image, document, toolReference);
const toolResult = z.object({
  type: z.literal("tool_result"),
  tool_use_id: z.string(),
  content: resultContent.nullish(),
  is_error: flag,
  ...marked,
});
const thinking = z.object({ type: z.literal("thinking"), thinking: z.string(), signature: text });
const redacted = z.object({ type: z.literal("redacted_thinking"), data: z.string() });
const toolUse = z.object({
  type: z.literal("tool_use"),
  id: name,
  name,
  input: jsonObject,
  ...marked,
});

const message = z.discriminatedUnion(
  "role",
  [
    z.object({
      role: z.literal("user"),
      content: blocksOf(textBlock, image, document, toolResult),
    }),
    z.object({
      role: z.literal("assistant"),
      content: blocksOf(textBlock, thinking, redacted, toolUse),
    }),
    z.object({ role: z.literal("system"), content: blocksOf(textBlock) }),
  ],
  "none of user, assistant and system",
);
const tool = z.object({
  type: z.literal("custom").nullish(),
  name,
  description: text,
  input_schema: jsonObject,
  strict: flag,
  ...marked,
});
const ownTool = "not supported; define a tool by its input_schema and run it";
const serial = { disable_parallel_tool_use: flag };
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

/** The fields that are read from a request; one to count tokens has no `max_tokens`. */
export const messagesSchema = z.object({
  model: name,
  max_tokens: count,
  system: blocksOf(textBlock).nullish(),
  messages: z.array(message).min(1),
  stream: flag,
  tools: z.array(z.discriminatedUnion("type", [tool], ownTool)).nullish(),
  tool_choice: toolChoice.nullish(),
  thinking: z.object({ type: z.string(), budget_tokens: count }).nullish(),
  ...sampling,
  top_k: z.int().nullish(),
  stop_sequences: z.array(z.string()).nullish(),
  metadata: z.object({ user_id: text }).nullish(),
  output_config: z.object({ effort: effort.catch(null), format: format.nullish() }).nullish(),
  output_format: format.nullish(),
  ...marked,
  thread: z.null("not supported; send the whole conversation").optional(),
});

/** A request's fields. */
export type MessagesBody = z.infer<typeof messagesSchema>;

/** A block of a message. */
export type Block = Exclude<MessagesBody["messages"][number]["content"], string>[number];

/** A block of a result. */
export type ResultBlock = Exclude<z.infer<typeof resultContent>, string>[number];
