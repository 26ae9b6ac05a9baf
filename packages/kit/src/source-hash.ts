import { createHash } from "node:crypto";

/** Returns the hash of a script or style for a page's policy, such as `sha256-…`. */
export function sourceHash(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
