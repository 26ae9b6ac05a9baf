import * as z from "zod/mini";
import { mapped } from "../json.ts";
import { contentSchema, imageSchema } from "./content.ts";

/** A `data:` URL of an image. */
export const dataUrlSchema = z.pipe(
  mapped(z.string().check(z.regex(/^data:image\/\w+;base64,/, "expected a data: URL")), (url) => {
    const [head = ""] = url.split(",", 1);
    return { format: head.slice(11, -7), base64: url.slice(head.length + 1) };
  }),
  imageSchema,
);

const toContent = ({ text }: { readonly text: string }) => ({ content: text });

/** The parts of OpenAI's form; the address of an image is its own key. */
export const decisionsPartSchema = z.discriminatedUnion("type", [
  mapped(z.object({ type: z.enum(["input_text", "output_text"]), text: z.string() }), toContent),
  mapped(z.object({ type: z.literal("refusal"), refusal: z.string() }), ({ refusal }) => ({
    content: refusal,
  })),
  mapped(z.object({ type: z.literal("input_json"), data: contentSchema }), ({ data: content }) => ({
    content,
  })),
  mapped(
    z.object({
      type: z.literal("input_image"),
      image_url: z.union([z.string().check(z.regex(/^https?:\/\/./)), dataUrlSchema]),
    }),
    ({ image_url: image }) => ({ image }),
  ),
]);

/** The text part of Google's form. */
export const geminiTextSchema = mapped(
  z.object({ type: z.literal("text"), text: z.string() }),
  toContent,
);

/** The parts of Google's form; the bytes or the address of a file are its key. */
export const geminiPartSchema = z.discriminatedUnion("type", [
  geminiTextSchema,
  mapped(
    z.object({
      type: z.enum(["image", "audio", "video", "document"]),
      data: z.optional(z.string()),
      uri: z.optional(z.string()),
    }),
    ({ data, uri = "" }) => ({ image: data ?? uri }),
  ),
]);

const textSchema = mapped(z.string().check(z.minLength(1)), (contentText) => [
  { content: contentText },
]);

/** Parses a text that is not empty, or parts, as a list of parts. */
export function textOrParts<TPart>(partSchema: z.ZodMiniType<TPart>) {
  return z.union([textSchema, z.array(partSchema).check(z.minLength(1))]);
}
