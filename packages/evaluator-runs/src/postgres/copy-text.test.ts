import { expect, test } from "vitest";
import { CopyReader } from "./copy-text.ts";

const texts = [
  ["0", "", "a\tb\nc\\", "\u{1F600} ü"],
  ["1", null, "x".repeat(300), null],
] as const;

/** What PostgreSQL writes (its manual, "COPY", "Binary Format"). */
function written(): Buffer {
  const number = (bytes: 2 | 4, value: number) => {
    const buffer = Buffer.alloc(bytes);
    buffer.writeIntBE(value, 0, bytes);
    return buffer;
  };
  const cell = (text: string | null) =>
    text === null ? [number(4, -1)] : [number(4, Buffer.byteLength(text)), Buffer.from(text)];
  const rows = texts.flatMap((cells) => [number(2, cells.length), ...cells.flatMap(cell)]);
  const head = Buffer.from("PGCOPY\n\u{ff}\r\n\0", "latin1");
  return Buffer.concat([head, number(4, 0), number(4, 0), ...rows, number(2, -1)]);
}

test.each([1, 2, 7, 100, 1000])("rows come back whole from pieces of %i bytes", (length) => {
  const reader = new CopyReader();
  const bytes = written();
  const rows: unknown[] = [];
  for (let at = 0; at < bytes.length; at += length) {
    rows.push(...reader.read(bytes.subarray(at, at + length)));
  }
  expect(rows).toEqual(texts);
});
