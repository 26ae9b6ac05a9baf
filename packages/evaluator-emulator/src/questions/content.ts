import * as z from "zod/mini";
import { isJsonRecord, mapped } from "../json.ts";

/** A state, an instruction or a description: text, an object or a list, never null (field fact). */
export type Content = string | Readonly<Record<string, unknown>> | readonly unknown[];

/** A state, an instruction or a description: text, an object or a list, never null (field fact). */
export const contentSchema = z.custom<Content>(
  (value) => typeof value === "string" || Array.isArray(value) || isJsonRecord(value),
  { error: "expected text, an object or a list" },
);

/** Returns all text and numbers inside a content, in order, one value per line, without key names. */
export function contentText(content: Content | null): string {
  const lines: string[] = [];
  const pending: unknown[] = [content];
  while (pending.length > 0) {
    const contentValue = pending.pop();
    if (typeof contentValue === "string" || typeof contentValue === "number")
      lines.push(String(contentValue));
    else if (typeof contentValue === "object" && contentValue !== null) {
      for (const nestedValue of Object.values(contentValue).toReversed()) pending.push(nestedValue);
    }
  }
  return lines.join("\n");
}

/** Returns the state of its parts, a single one unchanged, and the keys of the images beside it. */
export function joinParts(
  parts: readonly ({ readonly content: Content } | { readonly image: string })[],
) {
  const contents = parts.flatMap((part) => ("content" in part ? [part.content] : []));
  const [only] = contents;
  const images = parts.flatMap((part) => ("image" in part ? [part.image] : []));
  const stateContent: Content = contents.length === 1 && only !== undefined ? only : contents;
  return { state: stateContent, ...(images.length > 0 && { images }) };
}

// The vendor's limit; the gateway's is unverified.
const maxImageBytes = 16 * 1024 * 1024;

const imageFormats = ["png", "jpeg", "webp", "gif"];

/** Checks an image and returns its key, which differs between images; the bytes are not used. */
export const imageSchema = mapped(
  z.object({ format: z.string(), base64: z.string() }),
  ({ format, base64 }, { issues }): string => {
    const problem = findProblem(format, base64);
    if (problem !== null) issues.push({ code: "custom", message: problem, input: base64 });
    return base64;
  },
);

function findProblem(format: string, base64: string): string | null {
  const bytes = countBytes(base64);
  if (bytes === null) return "expected standard base64";
  if (bytes > maxImageBytes) return `expected at most ${maxImageBytes} bytes of an image`;
  return imageFormats.includes(format)
    ? null
    : `expected an image of the format ${imageFormats.join(", ")}`;
}

/** Returns how many bytes base64 has; null if it is not as an encoder writes it. */
function countBytes(base64: string): number | null {
  try {
    const bytes = atob(base64);
    return btoa(bytes) === base64 ? bytes.length : null;
  } catch {
    return null;
  }
}
