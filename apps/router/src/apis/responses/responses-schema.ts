import { z } from "zod";
import {
  audio,
  contentOf,
  count,
  described,
  effort,
  fileData,
  flag,
  formatOf,
  httpsUrl,
  imageDetail,
  imageUrl,
  jsonObject,
  name,
  sampling,
  text,
} from "../request-fields.ts";

const textPart = z.object({
  type: z.enum(["input_text", "output_text", "summary_text", "reasoning_text", "text"]),
  text: z.string(),
});
const part = z.discriminatedUnion(
  "type",
  [
    textPart,
    z.object({ type: z.literal("refusal"), refusal: z.string() }),
    z.object({ type: z.literal("input_image"), image_url: imageUrl, detail: imageDetail }),
    z
      .object({
        type: z.literal("input_file"),
        file_data: fileData.nullish(),
        file_url: httpsUrl.nullish(),
        filename: text,
      })
      .refine(({ file_data, file_url }) => file_data || file_url, {
        path: ["file_data"],
        error: "missing; send the file itself, a data: address",
      }),
    z.object({ type: z.literal("input_audio"), input_audio: audio }),
  ],
  "not supported; send it as input_text",
);
const content = contentOf(part);

const call = { call_id: name, name, namespace: text };
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
      call_id: name,
      output: content,
    }),
    z.object({
      type: z.literal("reasoning"),
      id: text,
      summary: z.array(textPart).nullish(),
      content: z.array(textPart).nullish(),
      encrypted_content: text,
    }),
  ],
  "not supported; send the conversation as messages, calls and outputs, with store: false",
);

const ownTool = "not supported; define it as a function, and run it";
const functionTool = z.object({
  type: z.literal("function"),
  ...described,
  parameters: jsonObject.nullish(),
  strict: flag,
});
const customTool = z.object({
  type: z.literal("custom"),
  ...described,
  format: z.object({ type: z.enum(["text", "grammar"]), syntax: text, definition: text }).nullish(),
});
const namespace = z.object({
  type: z.literal("namespace"),
  name,
  tools: z.array(z.discriminatedUnion("type", [functionTool, customTool], ownTool)),
});
/** Tools that OpenAI runs: Codex sends them to every server, and a model can reply without them. */
export const hostedTools = ["web_search", "image_generation", "tool_search"] as const;
const hostedTool = z.looseObject({ type: z.enum(hostedTools) });
const tools = [functionTool, customTool, namespace, hostedTool] as const;
const toolChoice = z.union([
  z.enum(["none", "auto", "required"]),
  z.object({
    type: z.enum(["function", "custom"], "not supported; send only the tools that may be called"),
    name,
    namespace: text,
  }),
]);

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
  model: name,
  instructions: text,
  input: z.union([z.string(), z.array(item)], "neither text nor a list of items"),
  stream: flag,
  ...sampling,
  max_output_tokens: count,
  tools: z.array(z.discriminatedUnion("type", tools, ownTool)).nullish(),
  tool_choice: toolChoice.nullish(),
  parallel_tool_calls: flag,
  text: z
    .object({
      format: formatOf({ ...described, schema: jsonObject, strict: flag }),
      verbosity: z.enum(["low", "medium", "high"]).nullish(),
    })
    .nullish(),
  reasoning: z.object({ effort, summary: text }).nullish(),
  prompt_cache_key: text,
  user: text,
  include: z.unknown().optional(),
  metadata: z.unknown().optional(),
  prompt: z.null("not supported; send its text as instructions").optional(),
  top_logprobs: z.literal(0, "not supported, as replies carry no log-probabilities").nullish(),
  ...serverState,
});

/** A request's fields. */
export type ResponsesBody = z.infer<typeof responsesSchema>;
