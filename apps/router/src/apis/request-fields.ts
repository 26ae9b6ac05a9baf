import { isRecord } from "evaluator-kit";
import { z } from "zod";
import type { JsonSchema } from "../conversation/conversation.ts";

/** A name or an id. */
export const name = z.string().min(1);
/** A text, or none. */
export const text = z.string().nullish();
/** A flag, or none. */
export const flag = z.boolean().nullish();
/** A number, or none. */
export const number = z.number().nullish();
/** A count of tokens, or none. */
export const count = z.int().positive().nullish();
/** The object itself: a copy would lose a key such as `__proto__`. */
export const jsonObject = z.custom<JsonSchema>(isRecord, "not an object; send one");
/** The effort of reasoning, or none. */
export const effort = z
  .enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"])
  .transform((level) => (level === "max" ? "xhigh" : level))
  .nullish();

/** An address that the model's service can load. */
export const httpsUrl = z
  .string()
  .refine((url) => url.startsWith("https:") && URL.canParse(url), "is not an https: address");

/** Accepts a text or a list of parts. */
export function contentOf<TPart extends z.ZodType>(part: TPart) {
  return z.union([z.string(), z.array(part)], "neither text nor a list of parts");
}
