import { z } from "zod";
import type {
  FilePart,
  JsonSchema,
  Message,
  Part,
  ProviderOptions,
  ReplyFormat,
  TextPart,
  Tool,
} from "../conversation/conversation.ts";
import { givenOf, isObject } from "./parse-body.ts";

/** A name or an id. */
export const name = z.string().min(1);
/** A text, or none. */
export const text = z.string().nullish();
/** A flag, or none. */
export const flag = z.boolean().nullish();
/** A count of tokens, or none. */
export const count = z.int().positive().nullish();
/** The object itself: a copy would lose a key such as `__proto__`. */
export const jsonObject = z.custom<JsonSchema>(
  (value) => isObject(value) && !Array.isArray(value),
  "not an object; send one",
);
/** The fields of every API for sampling. */
export const sampling = { temperature: z.number().nullish(), top_p: z.number().nullish() };
/** The effort of reasoning. */
export const effort = z
  .enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"])
  .transform((level) => (level === "max" ? "xhigh" : level))
  .nullish();

/** An address that the model's service can load. */
export const httpsUrl = z.string().refine(isHttps, "is not an https: address");
/** An image's address. */
export const imageUrl = z
  .string("missing; send the image itself, a data: address")
  .refine(
    (url) => isHttps(url) || /^data:image\/[^,]*,/.test(url),
    "is neither an https: nor a data: address",
  );
/** How closely OpenAI's models look at an image. */
export const imageDetail = z.enum(["auto", "low", "high", "original"]).nullish();
/** A file in a request. */
export const fileData = z
  .string("missing; send the file itself, a data: address")
  .regex(/^data:[\w.+-]+\/[\w.+-]+;base64,/, "is not a data: address with base64");
/** Audio in OpenAI's form. */
export const audio = z.object({
  data: z.base64(),
  format: z.enum(["wav", "mp3"], "is neither wav nor mp3; convert it"),
});
/** A tool's or a format's name with its description. */
export const described = { name, description: text };

function isHttps(url: string): boolean {
  return url.startsWith("https:") && URL.canParse(url);
}

/** Accepts a text or a list of parts. */
export function contentOf<TPart extends z.ZodType>(part: TPart) {
  return z.union([z.string(), z.array(part)], "neither text nor a list of parts");
}

/** Accepts OpenAI's formats of a reply. */
export function formatOf<TFields extends z.ZodRawShape>(fields: TFields) {
  const options = [
    z.object({ type: z.enum(["text", "json_object"]) }),
    z.object({ type: z.literal("json_schema"), ...fields }),
  ] as const;
  const instead = "not supported; use text, json_object or json_schema";
  return z.discriminatedUnion("type", options, instead).nullish();
}

/** Returns a content's parts. */
export function partsOf<TGiven, TPart>(
  content: string | readonly TGiven[] | null | undefined,
  toPart: (given: TGiven) => TPart,
): (TPart | TextPart)[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return (content ?? []).map(toPart);
}

/** Returns a file in the form of OpenAI's audio. */
export function toAudio({ data, format }: z.infer<typeof audio>): FilePart {
  const mediaType = format === "mp3" ? "audio/mpeg" : "audio/wav";
  return toFile(`data:${mediaType};base64,${data}`);
}

/** Returns a file; the type of one at another address is not known before it is loaded. */
export function toFile(url: string, filename: string | null | undefined = null): FilePart {
  const mediaType = /^data:([^;]+);/.exec(url)?.[1] ?? "application/pdf";
  return { type: "file", url, mediaType, filename };
}

/** Returns the options of a part: its mark for the cache and values of other providers. */
export function optionsOf(
  cacheControl: ProviderOptions[string] | null | undefined,
  others: ProviderOptions = {},
) {
  const options = { ...(cacheControl && { anthropic: { cacheControl } }), ...others };
  return Object.keys(options).length === 0 ? {} : { providerOptions: options };
}

/** Returns the options of an image. */
export function detailOptions(imageDetail: string | null | undefined): ProviderOptions {
  return imageDetail ? { openai: { imageDetail } } : {};
}

type Optional<TValue> = { readonly [TKey in keyof TValue]?: TValue[TKey] | null | undefined };

interface GivenTool extends Pick<Tool, "name">, Optional<Omit<Tool, "name">> {
  readonly cache_control?: ProviderOptions[string] | null | undefined;
}

/** Returns a tool; one without parameters has none. */
export function toTool({ name, description = null, strict = null, ...given }: GivenTool): Tool {
  const parameters = given.parameters ?? { type: "object", properties: {} };
  return { name, description, parameters, strict, ...optionsOf(given.cache_control) };
}

/** Returns the format of a reply in JSON; null for text. */
export function toFormat(
  given: ({ readonly type: string } & Optional<ReplyFormat>) | null | undefined,
): ReplyFormat | null {
  const {
    type = "text",
    name = null,
    description = null,
    schema = null,
    strict = null,
  } = given ?? {};
  return type === "text" ? null : { name, description, schema, strict };
}

interface OpenAiFields {
  readonly user?: string | null | undefined;
  readonly parallel_tool_calls?: boolean | null | undefined;
}

/** Returns a request's options that some providers have, from OpenAI's fields. */
export function toProviderOptions(
  { user, parallel_tool_calls }: OpenAiFields,
  fields: Readonly<Record<string, string | null | undefined>>,
): ProviderOptions {
  const isSerial = parallel_tool_calls === false;
  const openai = givenOf({ ...fields, parallelToolCalls: isSerial ? false : null });
  return {
    ...(user && { gateway: { user } }),
    ...(Object.keys(openai).length > 0 && { openai }),
    ...(isSerial && { anthropic: { disableParallelToolUse: true } }),
  };
}

/** Joins the parts of an assistant's message, and results with the user's message that follows them. */
export function joinSteps(messages: readonly Message[]): Message[] {
  const joined: { role: Message["role"]; parts: Part[] }[] = [];
  for (const { role, parts } of messages) {
    const last = joined.at(-1);
    const isOpen = role === "assistant" || last?.parts.at(-1)?.type === "toolResult";
    if (last?.role !== role || !isOpen) joined.push({ role, parts: [...parts] });
    else for (const part of parts) last.parts.push(part);
  }
  return joined;
}
