import type { Content } from "./evaluation-input.ts";

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
