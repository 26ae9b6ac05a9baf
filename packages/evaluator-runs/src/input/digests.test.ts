import { hash } from "node:crypto";
import { expect, test } from "vitest";
import { DIGEST_BYTES, DigestTable, RepeatFinder } from "./digests.ts";

const digestOf = (text: string) => hash("sha256", text, "buffer").subarray(0, DIGEST_BYTES);
const digests = Array.from({ length: 5000 }, (_, number) => digestOf(`${number}`));

test.each([undefined, 0, 1, 3, 1024])(
  "numbers digests in the order in which they first come, through every growth from room for %s",
  (capacity) => {
    const table = new DigestTable(16, capacity);
    const counted = digests.map((_, number) => number);
    // The first time they are new, the second time known.
    for (let time = 0; time < 2; time += 1) {
      expect(digests.map((digest) => table.add(digest)).join()).toBe(counted.join());
      expect(table.size).toBe(digests.length);
    }
    const held = Buffer.concat(counted.map((number) => table.at(number)));
    expect(held.equals(Buffer.concat(digests))).toBe(true);
    expect(table.add(digestOf("new"))).toBe(digests.length);
  },
);

test("tells digests apart that begin alike, wherever they stand in a buffer", () => {
  const table = new DigestTable(5);
  const alike = Array.from({ length: 600 }, (_, last) =>
    Buffer.from([9, 0, 0, 3, 255, last % 256, 9]).subarray(1, 6),
  );
  const numbers = alike.map((digest) => table.add(digest));
  expect(numbers).toEqual(alike.map((_, index) => index % 256));
  expect(table.size).toBe(256);
});

test.each([undefined, 0, 1, 3])("counts each number, through every growth from %s", (capacity) => {
  const table = new DigestTable(16, capacity);
  for (const digest of digests) expect(table.increase(table.add(digest))).toBe(0);
  expect([0, 1, 0, 0, 1].map((number) => table.increase(number))).toEqual([1, 1, 2, 3, 2]);
  expect([0, 1, 4999, 5000].map((number) => table.count(number))).toEqual([4, 3, 1, 0]);
});

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
