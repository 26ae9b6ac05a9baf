import { z } from "zod";
import { orNull } from "./fields.ts";

/** A text of a pattern, or none. */
export function matching(pattern: RegExp, error: string) {
  return orNull(z.string().regex(pattern, error));
}

/** A text that a header can carry. */
export function printable(what: string, text = z.string()) {
  const error = `has a space, a line break or another character that no ${what} has`;
  return text.regex(/^[\x21-\x7e]+$/, error);
}

/** A number from 0 to a limit. */
export function numberTo(most: number, like: string) {
  const error = `is not a number from 0 to ${most}, such as ${like}`;
  return z.coerce.number(error).min(0, error).max(most, error);
}

/** Texts between commas. */
export function list(text = z.string()) {
  return text.transform((words) => words.split(",").map((word) => word.trim()));
}

/** A time in whole milliseconds. */
export function milliseconds({ min = 1, max = 600_000 } = {}) {
  return wholeNumber("time", { min, max, example: "2000" }, "milliseconds");
}

/** A whole number within limits. */
export function wholeNumber(
  name: string,
  { min = 0, max, example }: { min?: number; max: number; example: string },
  of = "a whole number",
) {
  return z
    .string()
    .refine(
      (text) => /^\d{1,8}$/.test(text) && Number(text) >= min && Number(text) <= max,
      `is not a ${name}; set it to ${of} from ${min} to ${max}, such as ${example}`,
    )
    .transform(Number);
}
