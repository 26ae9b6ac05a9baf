import { expect, test } from "vitest";
import { createIds } from "./create-ids.ts";

test("the same seed gives the same ids, another seed others", () => {
  const [first, second] = [createIds(7), createIds(7)];
  const ids = Array.from({ length: 50 }, () => first());
  expect(Array.from({ length: 50 }, () => second())).toEqual(ids);
  expect(createIds(8)()).not.toBe(ids[0]);
  expect(new Set(ids).size).toBe(50);
  expect(ids[0]).toMatch(/^[0-9A-Z]{26}$/);
});
