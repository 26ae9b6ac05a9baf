import { z } from "zod";
import { isJsonRecord } from "../json.ts";
import type { Content } from "./question.ts";

/** A state, an instruction or a description: text, an object or a list, never null (field fact). */
export const contentSchema = z.custom<Content>(
  (value) => typeof value === "string" || Array.isArray(value) || isJsonRecord(value),
  { error: "expected text, an object or a list" },
);

/** All text and numbers inside a content, in order, one value per line; key names are left out. */
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
