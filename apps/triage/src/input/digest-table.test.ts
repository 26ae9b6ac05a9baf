import { hash } from "node:crypto";
import { expect, test } from "vitest";
import { DigestTable } from "./digest-table.ts";

const digestOf = (text: string) => hash("sha256", text, "buffer").subarray(0, 16);

test("numbers digests in the order in which they first come, through every growth", () => {
  const table = new DigestTable(16);
  for (let number = 0; number < 70_000; number += 1) table.add(digestOf(`${number}`));
  expect(table.size).toBe(70_000);
  for (const number of [0, 1, 511, 512, 65_535, 65_536, 69_999]) {
    expect(table.add(digestOf(`${number}`))).toBe(number);
    expect(table.at(number)).toEqual(digestOf(`${number}`));
  }
  expect(table.add(digestOf("new"))).toBe(70_000);
});

test("tells digests apart that begin alike", () => {
  const table = new DigestTable(5);
  const [one, two, three] = [1, 2, 3].map((last) => Buffer.from([0, 0, 3, 255, last]));
  for (const digest of [one, two, three, two, one]) table.add(digest as Buffer);
  expect(table.size).toBe(3);
  expect(table.add(two as Buffer)).toBe(1);
});
