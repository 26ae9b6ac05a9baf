import { expect, test } from "vitest";
import { applyPolicy } from "./decide.ts";

const rows = [
  ["nano", 0.4, null, "nano", "choice"],
  ["nano", 0.4, 0.4, "nano", "choice"],
  ["nano", 0.39, 0.4, "fast", "low-confidence"],
  ["balanced", 0, 0.5, "frontier", "low-confidence"],
  ["frontier", 0, 0.5, "frontier", "choice"],
] as const;

test.each(rows)("%s at confidence %s with a minimum of %s uses %s: %s", (...row) => {
  const [chosen, confidence, minConfidence, tierUsed, cause] = row;
  expect(applyPolicy(chosen, confidence, { minConfidence })).toEqual({ tierUsed, cause });
});
