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
    const value = pending.pop();
    if (typeof value === "string" || typeof value === "number") lines.push(String(value));
    else if (typeof value === "object" && value !== null) {
      for (const nested of Object.values(value).toReversed()) pending.push(nested);
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
  const state: Content = contents.length === 1 && only !== undefined ? only : contents;
  return { state, ...(images.length > 0 && { images }) };
}

// The vendor's limit; the gateway's is unverified.
const maxImageBytes = 16 * 1024 * 1024;

/** The first bytes of a file, each as a character. */
const signatures: Readonly<Record<string, readonly string[]>> = {
  png: ["\x89PNG\r\n\x1a\n"],
  jpeg: ["\xff\xd8\xff"],
  webp: ["RIFF"],
  gif: ["GIF87a", "GIF89a"],
};

/** Checks an image and returns its key, which differs between images; the pixels are not used. */
export const imageSchema = mapped(
  z.object({ format: z.string(), base64: z.string() }),
  ({ format, base64 }, { issues }): string => {
    const problem = problemOf(format, base64);
    if (problem !== null) issues.push({ code: "custom", message: problem, input: base64 });
    return base64;
  },
);

function problemOf(format: string, base64: string): string | null {
  const bytes = decode(base64);
  if (bytes === null) return "expected standard base64";
  if (bytes.length > maxImageBytes) return `expected at most ${maxImageBytes} bytes of an image`;
  const starts = signatures[format];
  if (starts === undefined) return "expected an image of the format png, jpeg, webp or gif";
  const isOne = starts.some((start) => bytes.startsWith(start));
  return isOne ? null : `expected the bytes of an image of the format ${format}`;
}

/** Returns the bytes of base64, each as a character; null if it is not as an encoder writes it. */
function decode(base64: string): string | null {
  try {
    const bytes = atob(base64);
    return btoa(bytes) === base64 ? bytes : null;
  } catch {
    return null;
  }
}
