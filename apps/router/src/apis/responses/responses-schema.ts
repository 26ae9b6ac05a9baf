import { z } from "zod";
import { isObject } from "../parse-body.ts";
import { orUnsupported } from "../unsupported.ts";

const name = z.string().min(1);
const given = z.string().nullish();
const strict = z.boolean().nullish();
/** The object itself: a copy would lose a key such as `__proto__`. */
const jsonObject = z.custom<Readonly<Record<string, unknown>>>(
  (value) => isObject(value) && !Array.isArray(value),
  "not an object; send one",
);

const text = z.object({
  type: z.enum(["input_text", "output_text", "summary_text", "reasoning_text", "text"]),
  text: z.string(),
});
const refusal = z.object({ type: z.literal("refusal"), refusal: z.string() });
const image = z.object({
  type: z.literal("input_image"),
  image_url: z
    .string("missing; send the image itself, a data: address")
    .refine(isImageAddress, "is neither an https: nor a data: address"),
  detail: z.enum(["auto", "low", "high", "original"]).nullish(),
});
const file = z
  .object({
    type: z.literal("input_file"),
    file_data: z
      .string()
      .regex(/^data:[\w.+-]+\/[\w.+-]+;base64,/, "is not a data: address with base64")
      .nullish(),
    file_url: z.string().refine(isHttpsAddress, "is not an https: address").nullish(),
    filename: given,
  })
  .refine(({ file_data, file_url }) => file_data || file_url, {
    path: ["file_data"],
    error: "missing; send the file itself, a data: address",
  });
const audio = z.object({
  type: z.literal("input_audio"),
  input_audio: z.object({
    data: z.base64(),
    format: z.enum(["wav", "mp3"], "is neither wav nor mp3; convert it"),
  }),
});

function isHttpsAddress(url: string): boolean {
  return url.startsWith("https:") && URL.canParse(url);
}

function isImageAddress(url: string): boolean {
  return isHttpsAddress(url) || /^data:image\/[^,]*,/.test(url);
}

const part = orUnsupported([text, refusal, image, file, audio], "send it as input_text");
const content = z.union([z.string(), z.array(part)], "neither text nor a list of parts");
const call = { call_id: name, name, namespace: given };
const item = orUnsupported(
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
      id: given,
      summary: z.array(text).nullish(),
      content: z.array(text).nullish(),
      encrypted_content: given,
    }),
  ],
  "send the conversation as messages, calls and outputs, with store: false",
);

const ownTool = "not supported; define it as a function, and run it";
const described = { name, description: given };
const functionTool = z.object({
  type: z.literal("function"),
  ...described,
  parameters: jsonObject.nullish(),
  strict,
});
const customTool = z.object({
  type: z.literal("custom"),
  ...described,
  format: z
    .object({ type: z.enum(["text", "grammar"]), syntax: given, definition: given })
    .nullish(),
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
    namespace: given,
  }),
]);
const format = z.discriminatedUnion(
  "type",
  [
    z.object({ type: z.enum(["text", "json_object"]) }),
    z.object({ type: z.literal("json_schema"), ...described, schema: jsonObject, strict }),
  ],
  "not supported; use text, json_object or json_schema",
);
const notStored = "replies are not stored; send the whole conversation as input";
const serverState = {
  store: z.literal(false, notStored).nullish(),
  background: z.literal(false, "not supported; use stream").nullish(),
  previous_response_id: z.null(notStored).optional(),
  conversation: z.null(notStored).optional(),
};

/** The fields of `POST /v1/responses` that are read. */
export const responsesSchema = z.object({
  model: name,
  instructions: given,
  input: z.union([z.string(), z.array(item)], "neither text nor a list of items"),
  stream: z.boolean().nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  max_output_tokens: z.int().positive().nullish(),
  tools: z.array(z.discriminatedUnion("type", tools, ownTool)).nullish(),
  tool_choice: toolChoice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  text: z
    .object({ format: format.nullish(), verbosity: z.enum(["low", "medium", "high"]).nullish() })
    .nullish(),
  reasoning: z
    .object({
      effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]).nullish(),
      summary: given,
    })
    .nullish(),
  prompt_cache_key: given,
  user: given,
  include: z.unknown().optional(),
  metadata: z.unknown().optional(),
  prompt: z.null("not supported; send its text as instructions").optional(),
  top_logprobs: z.literal(0, "not supported, as replies carry no log-probabilities").nullish(),
  ...serverState,
});

/** The fields without which there is no decision, or which no server may honour. */
export const neededFields = ["model", "input", "stream", ...Object.keys(serverState)];

/** A request's fields. */
export type ResponsesBody = z.infer<typeof responsesSchema>;
