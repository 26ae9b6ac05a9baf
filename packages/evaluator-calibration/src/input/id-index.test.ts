import { expect, test } from "vitest";
import { IdIndex } from "./id-index.ts";

const ids = Array.from({ length: 20_000 }, (_, row) => `mail-${row}@example.com`);

test("finds the row of each of many ids, and none of another", () => {
  const index = new IdIndex();
  for (const [row, id] of ids.entries()) index.add(id, row);
  expect(ids.map((id) => index.get(id))).toEqual([...ids.keys()]);
  expect([index.get("mail-20000@example.com"), index.get("")]).toEqual([undefined, undefined]);
});

test("an id that comes again has the row it had", () => {
  const index = new IdIndex();
  expect([index.add("a", 0), index.add("b", 1), index.add("a", 2)]).toEqual([
    undefined,
    undefined,
    0,
  ]);
  expect([index.get("a"), index.get("b")]).toEqual([0, 1]);
});

test("ids made to have one hash are found all the same, and soon hashed no more", () => {
  let hashed = 0;
  const index = new IdIndex(() => (hashed += 1) && 7);
  for (const [row, id] of ids.entries()) index.add(id, row);
  expect(index.add(ids[0] ?? "", 5)).toBe(0);
  expect([index.get(ids[0] ?? ""), index.get(ids[19_999] ?? "")]).toEqual([0, 19_999]);
  expect(hashed).toBeLessThan(1000);
});
