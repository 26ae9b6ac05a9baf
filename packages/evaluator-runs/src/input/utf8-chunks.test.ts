import { expect, test } from "vitest";
import { toUtf8Chunks } from "./utf8-chunks.ts";

const text = '[{"from":"Zoë 😀"}]';
const marked = `\uFEFF${text}`;

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function decoded(bytes: Buffer, size: number): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of toUtf8Chunks(inPieces(bytes, size))) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test.each([
  ["UTF-8", Buffer.from(text)],
  ["UTF-8 with its mark", Buffer.from(marked)],
  ["UTF-16", Buffer.from(text, "utf16le")],
  ["UTF-16 with its mark", Buffer.from(marked, "utf16le")],
  ["UTF-16 of the other order", Buffer.from(text, "utf16le").swap16()],
  ["UTF-16 of the other order with its mark", Buffer.from(marked, "utf16le").swap16()],
])("%s is the same text wherever its pieces are cut", async (_, bytes) => {
  for (const size of [1, 2, 3, 5, 1000]) expect(await decoded(bytes, size)).toBe(text);
});

test.each(["", "[", "[]"])("a text of few bytes comes whole: %j", async (short) => {
  expect(await decoded(Buffer.from(short), 1)).toBe(short);
});
