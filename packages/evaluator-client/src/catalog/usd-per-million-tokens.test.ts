import { expect, test } from "vitest";
import { usdPerMillionTokens } from "./catalog-wire.ts";

test.each([
  ["0.000000042", 0.042],
  ["0.0000011", 1.1],
  ["0.00000007", 0.07],
  ["0.000015", 15],
  ["0", 0],
  ["2", 2_000_000],
  [".000001", 1],
  ["4.2e-8", 0.042],
  ["4.2E-8", 0.042],
  [0.000000042, 0.042],
  [0.0000011, 1.1],
  [null, null],
  [undefined, null],
])("turns %j per token into %j per million", (perToken, perMillion) => {
  expect(usdPerMillionTokens(perToken)).toBe(perMillion);
});
