import { expect, test } from "vitest";
import { describeDefect } from "./describe-defect.ts";

test("names the error and where it was thrown, and leaves its message out", () => {
  const text = describeDefect(new RangeError("a person's text\n    on two lines"));
  expect(text).toMatch(/^The router failed with an unexpected RangeError\n +at .*describe-defect/);
  expect(text).not.toMatch(/person|two lines/);
});
