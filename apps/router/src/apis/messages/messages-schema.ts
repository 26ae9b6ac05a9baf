import { z } from "zod";
import * as field from "../request-fields.ts";

const marked = {
  cache_control: z
    .object({ type: z.literal("ephemeral"), ttl: z.enum(["5m", "1h"]).nullish() })
    .transform(({ type, ttl }) => (ttl ? { type, ttl } : { type }))
    .nullish(),
};

function blocksOf<TBlocks extends readonly [z.ZodObject, ...z.ZodObject[]]>(...blocks: TBlocks) {
  const instead = "not supported; send it as a block of the type text";
  return field.contentOf(z.discriminatedUnion("type", blocks, instead));
}

const source = z.discriminatedUnion(
  "type",
  [
    z.object({
      type: z.literal("base64"),
      media_type: z.string().regex(/^[\w.+-]{1,64}\/[\w.+-]{1,64}$/, "is not a media type"),
      data: z.string().refine((data) => !/[^\w+/=]/.test(data), "is not base64"),
    }),
    z.object({ type: z.literal("url"), url: field.httpsUrl }),
    z.object({ type: z.literal("text"), data: z.string() }),
  ],
  "not supported; send the image itself or the document itself as base64",
);
const textBlock = z.object({ type: z.literal("text"), text: z.string(), ...marked });
const image = z.object({ type: z.literal("image"), source, ...marked });
const document = z.object({ type: z.literal("document"), source, title: field.text, ...marked });
const toolReference = z.object({ type: z.literal("tool_reference"), tool_name: z.string() });
const resultContent = blocksOf(textBlock, image, document, toolReference);
const toolResult = z.object({
  type: z.literal("tool_result"),
  tool_use_id: z.string(),
  content: resultContent.nullish(),
  is_error: field.flag,
  ...marked,
});
const signed = { thinking: z.string(), signature: field.text };
const thinking = z.object({ type: z.literal("thinking"), ...signed });
const redacted = z.object({ type: z.literal("redacted_thinking"), data: z.string() });
const toolUse = z.object({
  type: z.literal("tool_use"),
  id: field.name,
  name: field.name,
  input: field.jsonObject,
  ...marked,
});

const ofUser = blocksOf(textBlock, image, document, toolResult);
const ofAssistant = blocksOf(textBlock, thinking, redacted, toolUse);
const message = z.discriminatedUnion(
  "role",
  [
    z.object({ role: z.literal("user"), content: ofUser }),
    z.object({ role: z.literal("assistant"), content: ofAssistant }),
    z.object({ role: z.literal("system"), content: blocksOf(textBlock) }),
  ],
  "none of user, assistant and system",
);
const tool = z.object({
  type: z.literal("custom").nullish(),
  name: field.name,
  description: field.text,
  input_schema: field.jsonObject,
  strict: field.flag,
  ...marked,
});
const ownTool = "not supported; define a tool by its input_schema and run it";
const serial = { disable_parallel_tool_use: field.flag };
const toolChoice = z.discriminatedUnion(
  "type",
  [
    z.object({ type: z.enum(["auto", "any", "none"]), ...serial }),
    z.object({ type: z.literal("tool"), name: field.name, ...serial }),
  ],
  "none of auto, any, tool and none",
);
const format = z.object({
  type: z.literal("json_schema", "not supported; use json_schema"),
  schema: field.jsonObject,
});

/** The fields that are read from a request; one to count tokens has no `max_tokens`. */
export const messagesSchema = z.object({
  model: field.name,
  max_tokens: field.count,
  system: blocksOf(textBlock).nullish(),
  messages: z.array(message).min(1),
  stream: field.flag,
  tools: z.array(z.discriminatedUnion("type", [tool], ownTool)).nullish(),
  tool_choice: toolChoice.nullish(),
  thinking: z.object({ type: z.string(), budget_tokens: field.count }).nullish(),
  temperature: field.number,
  top_p: field.number,
  top_k: z.int().nullish(),
  stop_sequences: z.array(z.string()).nullish(),
  metadata: z.object({ user_id: field.text }).nullish(),
  output_config: z.object({ effort: field.effort.catch(null), format: format.nullish() }).nullish(),
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
