import type { Reply } from "./reply.ts";

/** The first half of a body, in bytes or in chunks of a stream. */
export function halfOf(body: Reply["body"]): Buffer {
  if (typeof body !== "string") return Buffer.from(body.slice(0, body.length / 2).join(""));
  const bytes = Buffer.from(body);
  return bytes.subarray(0, bytes.length / 2);
}
