import { expect, test } from "vitest";
import { emailRequest } from "../testing/email-evaluation.ts";
import { estimateCost } from "./estimate-cost.ts";

test("counts requests and tokens, and says that it is an estimate", () => {
  const one = estimateCost([emailRequest], { inputUsdPerMillionTokens: 0.042 });
  expect(one).toMatchObject({ requests: 1, isEstimate: true });
  expect(one.inputTokens).toBeGreaterThan(50);
  expect(one.costUsd).toBeCloseTo((one.inputTokens * 0.042) / 1e6, 15);
  const ten = estimateCost(
    Array.from({ length: 10 }, () => emailRequest),
    {
      inputUsdPerMillionTokens: 0.042,
    },
  );
  expect(ten).toMatchObject({ requests: 10, inputTokens: 10 * one.inputTokens });
});

test("takes any iterable, an empty one and a price of 0 included", () => {
  function* requests() {
    yield emailRequest;
    yield emailRequest;
  }
  expect(estimateCost(requests(), { inputUsdPerMillionTokens: 0 })).toMatchObject({
    requests: 2,
    costUsd: 0,
  });
  expect(estimateCost([], { inputUsdPerMillionTokens: 1 })).toEqual({
    requests: 0,
    calls: 0,
    inputTokens: 0,
    costUsd: 0,
    isEstimate: true,
  });
});

test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])("refuses a price of %d", (price) => {
  expect(() => estimateCost([], { inputUsdPerMillionTokens: price })).toThrow(
    expect.objectContaining({ name: "ConfigurationError", option: "inputUsdPerMillionTokens" }),
  );
});
