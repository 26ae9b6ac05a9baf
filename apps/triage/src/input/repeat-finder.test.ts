import { hash } from "node:crypto";
import { expect, test } from "vitest";
import { RepeatFinder } from "./repeat-finder.ts";

function repeatsOf(texts: Iterable<string>) {
  using finder = new RepeatFinder();
  for (const text of texts) finder.add(hash("sha256", text, "buffer"));
  return [...finder.repeats()].toSorted((one, other) => one.index - other.index);
}

test("tells which digests had come before, and how often", () => {
  expect(repeatsOf(["a", "b", "a", "c", "a", "b"])).toEqual([
    { index: 2, first: 0, repeat: 1 },
    { index: 4, first: 0, repeat: 2 },
    { index: 5, first: 1, repeat: 1 },
  ]);
  expect(repeatsOf([])).toEqual([]);
});

test("finds them in more than memory holds", () => {
  const length = 300_000;
  const texts = Array.from({ length }, (_, index) => String(index % (length - 3)));
  expect(repeatsOf(texts)).toEqual(
    [0, 1, 2].map((first) => ({ index: length - 3 + first, first, repeat: 1 })),
  );
});

test("finds those of one digest that comes over and over", () => {
  const repeats = repeatsOf(Array.from({ length: 5000 }, () => "a"));
  expect(repeats).toHaveLength(4999);
  expect(repeats.at(-1)).toEqual({ index: 4999, first: 0, repeat: 4999 });
});
