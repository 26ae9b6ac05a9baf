import { z } from "zod";
import { isJsonRecord } from "../json.ts";

/** A JSON object whose keys are data, whatever their name. */
type JsonRecord = Readonly<Record<string, unknown>>;

/** What a state, an instruction or a description may be: text, an object or a list (field fact). */
export type Content = string | JsonRecord | readonly unknown[];

/** A state, an instruction or a description: text, an object or a list, never null (field fact). */
export const contentSchema = z.custom<Content>(
  (value) => typeof value === "string" || Array.isArray(value) || isJsonRecord(value),
  { error: "expected text, an object or a list" },
);

/**
 * Returns all text and numbers inside a content, in order, one value per line; key names are left
 * out.
 */
export function contentText(content: Content | null): string {
  const lines: string[] = [];
  const pending: unknown[] = [content];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value === "string" || typeof value === "number") lines.push(String(value));
    else if (typeof value === "object" && value !== null) {
      for (const nested of Object.values(value).toReversed()) pending.push(nested);
    }
  }
  return lines.join("\n");
}

/** Returns several contents as one: itself where there is one, else their list. */
export function joinContents(contents: readonly Content[]): Content {
  const [only] = contents;
  return contents.length === 1 && only !== undefined ? only : contents;
}
