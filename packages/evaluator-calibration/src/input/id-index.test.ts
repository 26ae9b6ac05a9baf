import { expect, test } from "vitest";
import { IdIndex } from "./id-index.ts";

const ids = Array.from({ length: 20_000 }, (_, row) => `mail-${row}@example.com`);

test("finds the row of each of many ids, and none of another", () => {
  const index = new IdIndex();
  for (const [row, id] of ids.entries()) index.set(id, row);
  expect(ids.map((id) => index.get(id))).toEqual([...ids.keys()]);
  expect([index.get("mail-20000@example.com"), index.get("")]).toEqual([undefined, undefined]);
});

test("an id that comes again has its latest row", () => {
  const index = new IdIndex();
  index.set("a", 0);
  index.set("b", 1);
  index.set("a", 2);
  expect([index.get("a"), index.get("b")]).toEqual([2, 1]);
});

test("ids made to have one hash are found all the same, and soon hashed no more", () => {
  let hashed = 0;
  const index = new IdIndex(() => (hashed += 1) && 7);
  for (const [row, id] of ids.entries()) index.set(id, row);
  index.set("mail-0@example.com", 5);
  expect([index.get(ids[0] ?? ""), index.get(ids[19_999] ?? "")]).toEqual([5, 19_999]);
  expect(hashed).toBeLessThan(1000);
});
