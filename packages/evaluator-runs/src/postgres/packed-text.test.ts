import { expect, test } from "vitest";
import { Sample, unpackJson } from "./packed-text.ts";

const answer = (choice: string, requestId: string, totalMs: number): string =>
  JSON.stringify({ answers: { tier: { choice } }, requestId, metadata: { requestId }, totalMs });
const sample = answer("nano", "gen_1A", 12.5);

test("keeps of an answer what differs from the sample, and each new word once", () => {
  const text = answer("fast", "gen_2B", 12.75);
  const packed = new Sample(sample).pack(text);
  expect(packed).toMatchInlineSnapshot(`
    "71fast"
    452B"
    6=b
    4375"
  `);
  expect(new Sample(sample).unpack(packed ?? "")).toBe(text);
});

test("a difference that is the one before again takes one character", () => {
  const other = new Sample("[111,222,333,444,666,888]");
  const packed = other.pack("[555,555,555,555,555,777]");
  expect(packed).toBe("10555\n2=1\n\n\n\n20777");
  expect(other.unpack(packed ?? "")).toBe("[555,555,555,555,555,777]");
});

test("words far from one another are found", () => {
  const far = (one: number, other: number) =>
    `[${"1,".repeat(40)}${one},${"1,".repeat(9000)}${other}]`;
  const packed = new Sample(far(44, 55)).pack(far(22, 33));
  expect(packed).toBe("_029022\n_dw2033");
  expect(new Sample(far(44, 55)).unpack(packed ?? "")).toBe(far(22, 33));
  const tooFar = (one: number) => `[${"1,".repeat(24_000)}${one}]`;
  expect(new Sample(tooFar(33)).pack(tooFar(22))).toBeNull();
});

test("JSON that an earlier version packed needs its sample", () => {
  const [one, other] = ['{"from":"anna","n":1}', '{"from":"otto","n":1}'];
  expect(unpackJson('~31otto"', new Sample(one))).toBe(other);
  expect(unpackJson('~31otto"', undefined)).toBeNull();
  expect(unpackJson('"~a text"', undefined)).toBe('"~a text"');
});

test.each([
  sample,
  answer("x".repeat(80), `gen_${"y".repeat(80)}`, 12.5),
  answer("~=\\\n 1 \u0000 ", 'a "quoted" \u{1F600} word', -1e-7),
  answer("", "\\", 0),
  answer("7~1 x", "=b", 1e21),
  answer("71x", "_0015", -0.5),
])("gives every text back as it was: %j", (text) => {
  for (const other of [sample, text]) {
    const packed = new Sample(other).pack(text);
    expect(packed).not.toBeNull();
    expect(new Sample(other).unpack(packed ?? "")).toBe(text);
  }
});

test.each(['{"answers":{}}', "", sample.replace("{", "{\n"), '"'.repeat(9)])(
  "a text of another shape is not kept as a difference: %j",
  (text) => {
    expect(new Sample(sample).pack(text)).toBeNull();
  },
);

test.each(["1", "~", "=", "z9 x", "_zzz0", "_1", "-5=1", "1=zz", "\n\n"])(
  "a damaged difference gives nothing: %j",
  (packed) => {
    expect(new Sample(sample).unpack(packed)).toBeNull();
  },
);
