import { expect, test } from "vitest";
import { pack, toSample, unpack } from "./packed-text.ts";

const answer = (choice: string, requestId: string, totalMs: number): string =>
  JSON.stringify({ answers: { tier: { choice } }, requestId, metadata: { requestId }, totalMs });
const sample = answer("nano", "gen_1A", 12.5);

test("keeps of an answer what differs from the sample, and each new word once", () => {
  const text = answer("fast", "gen_2B", 12.75);
  const packed = pack(text, toSample(sample));
  expect(packed).toMatchInlineSnapshot(`
    "7~1 fast"
    4~5 2B"
    6=b
    4~3 75"
  `);
  expect(unpack(packed ?? "", toSample(sample))).toBe(text);
});

test.each([
  sample,
  answer("~=\\\n 1 \u0000 ", 'a "quoted" \u{1F600} word', -1e-7),
  answer("", "\\", 0),
  answer("7~1 x", "=b", 1e21),
])("gives every text back as it was: %j", (text) => {
  for (const other of [sample, text]) {
    const packed = pack(text, toSample(other));
    expect(packed).not.toBeNull();
    expect(unpack(packed ?? "", toSample(other))).toBe(text);
  }
});

test.each(['{"answers":{}}', "", sample.replace("{", "{\n"), '"'.repeat(9)])(
  "a text of another shape is not kept as a difference: %j",
  (text) => {
    expect(pack(text, toSample(sample))).toBeNull();
  },
);

test.each(["1", "~", "=", "zz~9 x", "-5=1", "1=zz", "\n\n"])(
  "a damaged difference gives nothing: %j",
  (packed) => {
    expect(unpack(packed, toSample(sample))).toBeNull();
  },
);
