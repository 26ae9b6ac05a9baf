import { plainPath } from "./plain-text.ts";

/**
 * Makes a message, as a template tag: each value in it loses what steers a terminal, bidi marks and
 * line breaks, so that no path or id can forge one. Its own words stay as they are.
 */
export function plainMessage(words: TemplateStringsArray, ...values: readonly string[]): string {
  return String.raw({ raw: words }, ...values.map(plainPath));
}
