import { hash } from "node:crypto";
import { expect, test } from "vitest";
import { RepeatFinder } from "./digests.ts";

const digestOf = (text: string) => hash("sha256", text, "buffer");

function repeatsOf(digests: Iterable<Uint8Array>) {
  using finder = new RepeatFinder();
  for (const digest of digests) finder.add(digest);
  return [...finder.repeats()].toSorted((one, other) => one.index - other.index);
}

/** Different digests for different numbers, spread as hashes are, which would take most of the time. */
function* spreadDigests(numbers: Iterable<number>) {
  const digest = Buffer.alloc(16);
  for (const number of numbers) {
    digest.writeInt32BE(Math.imul(number, 0x9e3779b1));
    yield digest;
  }
}

test("tells which digests had come before, and how often", () => {
  expect(repeatsOf(["a", "b", "a", "c", "a", "b"].map(digestOf))).toEqual([
    { index: 2, first: 0, repeat: 1 },
    { index: 4, first: 0, repeat: 2 },
    { index: 5, first: 1, repeat: 1 },
  ]);
  expect(repeatsOf([])).toEqual([]);
});

test("finds them in more than memory holds", () => {
  const length = 230_000; // 205,000 of them are held
  const numbers = Array.from({ length }, (_, index) => index % (length - 3));
  expect(repeatsOf(spreadDigests(numbers))).toEqual(
    [0, 1, 2].map((first) => ({ index: length - 3 + first, first, repeat: 1 })),
  );
});

test("finds those of one digest that comes over and over", () => {
  const repeats = repeatsOf(Array.from({ length: 5000 }, () => digestOf("a")));
  expect(repeats).toHaveLength(4999);
  expect(repeats.at(-1)).toEqual({ index: 4999, first: 0, repeat: 4999 });
});
