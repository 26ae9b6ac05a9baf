import { z } from "zod";
import {
  withoutUndefined,
  type ProviderOptions,
  type ToolResultPart,
} from "../conversation/conversation.ts";
import type { TokenUsage } from "../reply/usage.ts";
import type { ErrorDetails, ModelListForm } from "./api.ts";
import * as field from "./request-fields.ts";
import { listOptions, toFile } from "./request-parts.ts";

/** The problem of a choice among tools that this router cannot pass on. */
export const onlyFunctions = "not supported; send only the tools that may be called";
/** The problem of a request for log-probabilities. */
export const noLogprobs = "not supported, as replies carry no log-probabilities; leave it out";

/** A mark for the cache, as Anthropic's models take it. */
export const markedFields = { cache_control: z.record(z.string(), z.json()).nullish() };
/** The fields of a function. */
export const functionFields = {
  name: field.name,
  description: field.text,
  parameters: field.jsonObject.nullish(),
  strict: field.flag,
};
/** How much a model writes. */
export const verbosity = z.enum(["low", "medium", "high"]).nullish();
/** The fields that both of OpenAI's APIs have. */
export const openAiFields = {
  model: field.name,
  stream: field.flag,
  temperature: field.number,
  top_p: field.number,
  reasoning: z.object({ effort: field.effort, summary: field.text }).nullish(),
  parallel_tool_calls: field.flag,
  user: field.text,
};

type OpenAiRequest = z.infer<z.ZodObject<typeof openAiFields>>;

/** Accepts the formats of a reply. */
export function findFormat<TFields extends z.ZodRawShape>(fields: TFields) {
  // Together's form of a schema, which instructor sends.
  const schema = field.jsonObject.nullish();
  const plainFormat = z.object({ type: z.enum(["text", "json_object"]), schema });
  const jsonFormat = z.object({ type: z.literal("json_schema"), ...fields });
  const onlyFormats = "not supported; use text, json_object or json_schema";
  return z.discriminatedUnion("type", [plainFormat, jsonFormat], onlyFormats).nullish();
}

const detail = z.enum(["auto", "low", "high", "original"]).nullish();
/** How the base64 of common files begins; clients of older APIs leave out `data:`. */
const beginnings = {
  iVBORw0KGgo: "image/png",
  "/9j/": "image/jpeg",
  R0lGOD: "image/gif",
  UklGR: "image/webp",
  JVBERi: "application/pdf",
};
const unlabelledSchema = z
  .string("missing; send the image or the file itself, a data: address")
  .transform((fileText) => {
    const [, type] = Object.entries(beginnings).find(([begin]) => fileText.startsWith(begin)) ?? [];
    return type === undefined ? fileText : `data:${type};base64,${fileText}`;
  });
const imageUrl = unlabelledSchema.pipe(
  field.toAddress("is neither an https: nor a data: address", /^data:image\/[^,]*,/),
);
const fileData = unlabelledSchema.pipe(
  z.string().check(({ value, issues }) => {
    if (/^data:[\w.+-]+\/[\w.+-]+;base64,/.test(value)) return;
    const params: field.PassedIssue = { isPassed: /^[\w+/]{8,}={0,2}$/.test(value) };
    const message = "is not a data: address with base64";
    issues.push({ code: "custom", input: value, message, params });
  }),
);
const fileFields = {
  file_data: fileData.nullish(),
  file_url: field.webUrl.nullish(),
  file_id: field.text,
  filename: field.text,
};

/** Requires a part's content; a service knows the files behind its own ids. */
function hasOne(message: string, ...fieldNames: readonly [string, ...string[]]) {
  return z.check<{ readonly file_id?: string | null | undefined }>(({ value, issues }) => {
    if (fieldNames.some((fieldName) => Reflect.get(value, fieldName))) return;
    const params: field.PassedIssue = { isPassed: Boolean(value.file_id) };
    issues.push({ code: "custom", input: value, path: [fieldNames[0]], message, params });
  });
}

const hasFile = hasOne("missing; send the file itself, a data: address", "file_data", "file_url");
const hasImage = hasOne("missing; send the image itself, a data: address", "image_url");
const audioTypes: Readonly<Record<string, string>> = { wav: "audio/wav", mp3: "audio/mpeg" };
const audioSchema = z.object({
  data: z.base64(),
  format: z.string().check(({ value, issues }) => {
    if (Object.hasOwn(audioTypes, value)) return;
    const params: field.PassedIssue = { isPassed: true };
    const message = "is neither wav nor mp3; convert it";
    issues.push({ code: "custom", input: value, message, params });
  }),
});
const textTypes = ["text", "input_text", "output_text", "summary_text", "reasoning_text"] as const;

/** A text. */
export const textPart = z.object({ type: z.enum(textTypes), text: z.string(), ...markedFields });

const partSchema = z.discriminatedUnion(
  "type",
  [
    textPart,
    z.object({ type: z.literal("refusal"), refusal: z.string(), ...markedFields }),
    z.object({
      type: z.literal("image_url"),
      // Mistral's form is the address alone.
      image_url: z.preprocess(
        (givenValue) => (typeof givenValue === "string" ? { url: givenValue } : givenValue),
        z.object({ url: imageUrl, detail }),
      ),
      ...markedFields,
    }),
    z
      .object({
        type: z.literal("input_image"),
        image_url: imageUrl.nullish(),
        file_id: field.text,
        detail,
        ...markedFields,
      })
      .check(hasImage),
    z.object({ type: z.literal("input_audio"), input_audio: audioSchema, ...markedFields }),
    z.object({
      type: z.literal("file"),
      file: z.object(fileFields).check(hasFile),
      ...markedFields,
    }),
    z.object({ type: z.literal("input_file"), ...fileFields, ...markedFields }).check(hasFile),
  ],
  "not supported; send it as text or input_text",
);

/** The content of a message or a result: each API takes the other's parts too. */
export const content = field.toContent(partSchema);

/** Returns a part of a content. */
export function toPart(
  part: Exclude<z.infer<typeof content>, string>[number],
): ToolResultPart["parts"][number] {
  const partOptions = listOptions(part.cache_control);
  if ("text" in part) return { type: "text", text: part.text, ...partOptions };
  if ("refusal" in part) return { type: "text", text: part.refusal, ...partOptions };
  if ("input_audio" in part) {
    const { data, format } = part.input_audio;
    return { ...toFile(`data:${audioTypes[format]};base64,${data}`), ...partOptions };
  }
  if (part.type === "image_url" || part.type === "input_image") {
    const isNested = part.type === "image_url";
    const { url, detail } = isNested ? part.image_url : { ...part, url: part.image_url ?? "" };
    const imageOptions: ProviderOptions = detail ? { openai: { imageDetail: detail } } : {};
    return { type: "image", url, ...listOptions(part.cache_control, imageOptions) };
  }
  const file = part.type === "file" ? part.file : part;
  return { ...toFile(file.file_data ?? file.file_url ?? "", file.filename), ...partOptions };
}

/** Returns a request's options that some providers have. */
export function toProviderOptions(
  { user, parallel_tool_calls }: OpenAiRequest,
  openAiOptions: Readonly<Record<string, string | null | undefined>>,
): ProviderOptions {
  const isSerial = parallel_tool_calls === false;
  const openai = withoutUndefined({ ...openAiOptions, parallelToolCalls: isSerial ? false : null });
  return {
    ...(user && { gateway: { user } }),
    ...(Object.keys(openai).length > 0 && { openai }),
    ...(isSerial && { anthropic: { disableParallelToolUse: true } }),
  };
}

/** The model list with the gateway's names for capabilities; its decision models have a type, as at the gateway. */
export const openAiModels: ModelListForm = {
  toReplyModel(modelId, { contextWindow, maxOutputTokens, ...otherCapabilities }) {
    const sizes = withoutUndefined({ context_window: contextWindow, max_tokens: maxOutputTokens });
    return { ...toModel(modelId), ...sizes, capabilities: otherCapabilities };
  },
  toDecisionModel: (modelId) => ({ ...toModel(modelId), type: "decision" }),
  // The vendor's clients read the second list.
  toList: (data, decisionModels) => ({ object: "list", data, models: decisionModels.map(toCard) }),
};

function toModel(id: string) {
  return { id, object: "model", created: 0, owned_by: "router" };
}

function toCard(name: string) {
  return { name, description: "Decision model; it answers typed questions.", release_date: "" };
}

/** The model names of OpenAI's own clients. */
export const openAiClientModels = /^(?:gpt-|o[134]|codex-|chatgpt-)/;

const errorTypes: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  429: "rate_limit_error",
};

/** Returns a failure in OpenAI's form. */
export function openAiError(message: string, status: number, details: ErrorDetails = {}) {
  const { param = null, code = null } = details;
  const type = errorTypes[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
  return { error: { message, type, param, code } };
}

/** Returns counts under the names of an API of OpenAI. OpenRouter has `cache_write_tokens` too. */
export function toOpenAiUsage(
  { input, cacheRead, cacheWrite, output, reasoning }: TokenUsage,
  inputName: "prompt" | "input",
  outputName: "completion" | "output",
) {
  const [cached_tokens, cache_write_tokens] = [cacheRead ?? 0, cacheWrite ?? 0];
  const [read, outputCount] = [(input ?? 0) + cached_tokens + cache_write_tokens, output ?? 0];
  return {
    [`${inputName}_tokens`]: read,
    [`${inputName}_tokens_details`]: { cached_tokens, cache_write_tokens },
    [`${outputName}_tokens`]: outputCount,
    [`${outputName}_tokens_details`]: { reasoning_tokens: reasoning ?? 0 },
    total_tokens: read + outputCount,
  };
}
