import { expect, test } from "vitest";
import { halfOf } from "./deliver.ts";

test.each([
  ["abcdef", "application/json", "abc"],
  ["abcde", "application/json", "ab"],
  ["", "application/json", ""],
  ["one\n\ntwo\n\nthree\n\nfour\n\n", "text/event-stream", "one\n\ntwo\n\n"],
])("half of %j as %s is %j", (body, contentType, half) => {
  expect(halfOf(body, contentType).toString()).toBe(half);
});
