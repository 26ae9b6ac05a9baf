import { hash } from "node:crypto";
import { expect, test } from "vitest";
import { DigestTable, NumberList } from "./digest-table.ts";

const digestOf = (text: string) => hash("sha256", text, "buffer").subarray(0, 16);
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

test("a list of numbers takes as many as come, from any room", () => {
  for (const capacity of [undefined, 0, 1, 3]) {
    const list = new NumberList(capacity);
    for (let number = 0; number < 3000; number += 1) list.push(4_294_967_295 - number);
    expect([list.length, list.at(0), list.at(2999), list.at(3000)]).toEqual([
      3000, 4_294_967_295, 4_294_964_296, 0,
    ]);
  }
});

test("a number of a list is counted up from where it was, a new one from nothing", () => {
  const list = new NumberList(1);
  expect([0, 1, 0, 0, 1].map((index) => list.increase(index))).toEqual([0, 0, 1, 2, 1]);
  expect([list.length, list.at(0), list.at(1)]).toEqual([2, 3, 2]);
});
