import { expect, test } from "vitest";
import { pickOption } from "./pick-option.ts";

test.each([
  [["a", "b"], [0.4, 0.6], "b"],
  [["a", "b"], [0.5, 0.5], "a"],
  [["a", "other", "b"], [1 / 3, 1 / 3, 1 / 3], "other"],
  [["a", "None of these"], [0.5, 0.5], "None of these"],
  [["a", "otherwise"], [0.5, 0.5], "a"],
  [["a", "other"], [0.6, 0.4], "a"],
  [[""], [1], ""],
])("of %j with %j: %j", (options, probabilities, picked) => {
  expect(pickOption(options, probabilities)).toBe(picked);
});
