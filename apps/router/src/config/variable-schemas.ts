import { z } from "zod";
import { orNull } from "./fields.ts";

/** A text of a pattern, or none. */
export function matching(pattern: RegExp, error: string) {
  return orNull(z.string().regex(pattern, error));
}

/** A text that a header can carry. */
export function printable(valueKind: string, textSchema = z.string()) {
  const error = `has a space, a line break or another character that no ${valueKind} has`;
  return textSchema.regex(/^[\x21-\x7e]+$/, error);
}

/** A number from 0 to a limit. */
export function numberTo(mostValue: number, exampleNumber: string) {
  const error = `is not a number from 0 to ${mostValue}, such as ${exampleNumber}`;
  return z.coerce.number(error).min(0, error).max(mostValue, error);
}

/** Texts between commas. */
export function list(textSchema = z.string()) {
  return textSchema.transform((listText) => listText.split(",").map((word) => word.trim()));
}

/** A time in whole milliseconds. */
export function milliseconds({ min = 1, max = 600_000 } = {}) {
  return wholeNumber("time", { min, max, example: "2000" }, "milliseconds");
}

/** A whole number within limits. */
export function wholeNumber(
  valueName: string,
  { min = 0, max, example }: { min?: number; max: number; example: string },
  numberKind = "a whole number",
) {
  return z
    .string()
    .refine(
      (text) => /^\d{1,8}$/.test(text) && Number(text) >= min && Number(text) <= max,
      `is not a ${valueName}; set it to ${numberKind} from ${min} to ${max}, such as ${example}`,
    )
    .transform(Number);
}
