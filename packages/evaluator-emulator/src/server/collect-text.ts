import { UnreadableBody } from "./unreadable-body.ts";

/** Largest request body, in bytes. */
const maxBodyBytes = 4 * 1024 * 1024;

/** Collects the chunks of a body. */
export interface TextCollector {
  /** @throws {UnreadableBody} a 413 when the body grows too large. */
  add(chunk: Uint8Array): void;
  text(): string;
}

/** Puts a body together, up to the size limit. */
export function collectText(): TextCollector {
  const chunks: Uint8Array[] = [];
  let size = 0;
  return {
    add(chunk) {
      size += chunk.length;
      if (size > maxBodyBytes) {
        throw new UnreadableBody(`The body is larger than ${maxBodyBytes} bytes.`, 413);
      }
      chunks.push(chunk);
    },
    text: () => Buffer.concat(chunks).toString("utf8"),
  };
}
