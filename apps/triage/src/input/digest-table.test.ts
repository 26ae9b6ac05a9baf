import { hash } from "node:crypto";
import { expect, test } from "vitest";
import { DigestTable, NumberList } from "./digest-table.ts";

const digestOf = (text: string) => hash("sha256", text, "buffer").subarray(0, 16);

test.each([undefined, 0, 1, 3, 1024])(
  "numbers digests in the order in which they first come, through every growth from room for %s",
  (capacity) => {
    const table = new DigestTable(16, capacity);
    const numbers = Array.from({ length: 5000 }, (_, number) => table.add(digestOf(`${number}`)));
    expect(numbers).toEqual(Array.from({ length: 5000 }, (_, number) => number));
    expect(table.size).toBe(5000);
    for (let number = 0; number < 5000; number += 1) {
      expect(table.add(digestOf(`${number}`))).toBe(number);
      expect(table.at(number)).toEqual(digestOf(`${number}`));
    }
    expect(table.size).toBe(5000);
    expect(table.add(digestOf("new"))).toBe(5000);
  },
);

test("tells digests apart that begin alike, wherever they stand in a buffer", () => {
  const table = new DigestTable(5);
  const digests = Array.from({ length: 600 }, (_, last) =>
    Buffer.from([9, 0, 0, 3, 255, last % 256, 9]).subarray(1, 6),
  );
  for (const [index, digest] of digests.entries()) expect(table.add(digest)).toBe(index % 256);
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
