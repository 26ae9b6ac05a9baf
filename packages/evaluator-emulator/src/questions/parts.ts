import * as z from "zod/mini";
import { mapped } from "../json.ts";
import { contentSchema, imageSchema, joinParts } from "./content.ts";

/** A `data:` URL of an image. */
export const dataUrlSchema = z.pipe(
  mapped(z.string().check(z.regex(/^data:image\/\w+;base64,/, "expected a data: URL")), (url) => {
    const [head = ""] = url.split(",", 1);
    return { format: head.slice(11, -7), base64: url.slice(head.length + 1) };
  }),
  imageSchema,
);

/** An address, which is its own key, or a `data:` URL. */
const imageUrlSchema = z.union([z.string().check(z.regex(/^https?:\/\/./)), dataUrlSchema]);

/** A part of a message or of instructions in OpenAI's decisions form. */
export const decisionsPartSchema = z.discriminatedUnion("type", [
  mapped(
    z.object({ type: z.enum(["input_text", "output_text"]), text: z.string() }),
    ({ text: content }) => ({ content }),
  ),
  mapped(z.object({ type: z.literal("refusal"), refusal: z.string() }), ({ refusal: content }) => ({
    content,
  })),
  mapped(z.object({ type: z.literal("input_json"), data: contentSchema }), ({ data: content }) => ({
    content,
  })),
  mapped(
    z.object({ type: z.literal("input_image"), image_url: imageUrlSchema }),
    ({ image_url: image }) => ({ image }),
  ),
]);

const geminiTextPartSchema = mapped(
  z.object({ type: z.literal("text"), text: z.string() }),
  ({ text: content }) => ({ content }),
);

/** A part of an input in Google's form; the bytes of a file are its key. */
export const geminiPartSchema = z.discriminatedUnion("type", [
  geminiTextPartSchema,
  mapped(
    z
      .object({
        type: z.enum(["image", "audio", "video", "document"]),
        data: z.optional(z.string()),
        uri: z.optional(z.string()),
      })
      .check(z.refine(({ data, uri }) => (data ?? uri) !== undefined, "expected data or uri")),
    ({ data, uri = "" }) => ({ image: data ?? uri }),
  ),
]);

/** Instructions in OpenAI's decisions form; images in them are not looked at. */
export const decisionsPromptSchema = z.union([
  z.string(),
  mapped(z.array(decisionsPartSchema).check(z.minLength(1)), (parts) => joinParts(parts).state),
]);

/** Instructions in Google's form, which requires them. */
export const geminiPromptSchema = z.union([
  z.string().check(z.minLength(1)),
  mapped(geminiTextPartSchema, ({ content }) => content),
  mapped(z.array(geminiTextPartSchema).check(z.minLength(1)), (parts) => joinParts(parts).state),
]);
