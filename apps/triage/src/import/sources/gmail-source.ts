import { type Duplex, Readable } from "node:stream";
import { createInterface } from "node:readline";
import picked from "stream-json/filters/pick.js";
import arrayItems from "stream-json/streamers/stream-array.js";
import type { FoundMail } from "../found-mail.ts";
import { parseGmailMessage } from "./gmail-message.ts";
import { readThrough } from "./read-through.ts";

/** How a dump is laid out: an array, an object with `messages`, or one message a line. */
export type GmailLayout = "array" | "messages" | "lines";

/** Finds the messages of a Gmail API dump, one at a time. */
export async function* gmailSource(
  chunks: AsyncIterable<Uint8Array>,
  layout: GmailLayout,
): AsyncGenerator<FoundMail> {
  let number = 0;
  for await (const read of readersOf(chunks, layout)) {
    number += 1;
    yield { place: `message ${number}`, isCut: false, read: async () => parseGmailMessage(read()) };
  }
}

async function* readersOf(
  chunks: AsyncIterable<Uint8Array>,
  layout: GmailLayout,
): AsyncGenerator<() => unknown> {
  if (layout === "lines") {
    const lines = createInterface({ input: Readable.from(chunks), crlfDelay: Infinity });
    for await (const line of lines) {
      if (line.trim() !== "") yield () => JSON.parse(line) as unknown;
    }
    return;
  }
  const items = readThrough<{ value: unknown }>(Readable.from(chunks), ...itemStreams(layout));
  for await (const { value } of items) yield () => value;
}

function itemStreams(layout: "array" | "messages"): Duplex[] {
  if (layout === "array") return [arrayItems.withParserAsStream()];
  return [picked.withParserAsStream({ filter: "messages" }), arrayItems.asStream()];
}
