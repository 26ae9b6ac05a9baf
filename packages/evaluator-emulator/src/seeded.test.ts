import { expect, test } from "vitest";
import { createDraws, createIds } from "./seeded.ts";

test("the same seed gives the same ids, another seed others", () => {
  const [first, second] = [createIds(7), createIds(7)];
  const ids = Array.from({ length: 50 }, () => first());
  expect(Array.from({ length: 50 }, () => second())).toEqual(ids);
  expect(createIds(8)()).not.toBe(ids[0]);
  expect(new Set(ids).size).toBe(50);
  expect(ids[0]).toMatch(/^[0-9A-Z]{26}$/);
});

const texts = Array.from({ length: 200 }, (_, index) => `request ${index}`);

test("the same seed and texts draw the same numbers, in whatever order", () => {
  const [forwards, backwards] = [createDraws("7"), createDraws("7")];
  const drawn = new Map(texts.map((text) => [text, forwards(text)]));
  for (const text of texts.toReversed()) expect(backwards(text)).toBe(drawn.get(text));
});

test("a text that comes again draws another number", () => {
  const draw = createDraws("7");
  expect(draw("again")).not.toBe(draw("again"));
});

test("another seed draws other numbers", () => {
  expect(createDraws("8")("request")).not.toBe(createDraws("7")("request"));
});

test("numbers are spread from 0 to 1", () => {
  const draw = createDraws("7");
  const drawn = texts.map((text) => draw(text));
  expect(drawn.every((number) => number >= 0 && number < 1)).toBe(true);
  const below = drawn.filter((number) => number < 0.25).length;
  expect(below).toBeGreaterThan(25);
  expect(below).toBeLessThan(75);
});
