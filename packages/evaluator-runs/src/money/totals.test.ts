import type { Evaluation } from "evaluator-client";
import { expect, test } from "vitest";
import { RunTotals } from "./totals.ts";

const price = { inputUsdPerMillionTokens: 1, source: "--price" };

/** An answer that took a thousand tokens. */
function answer(costUsd: number | null) {
  const usage = { inputTokens: 1000, outputTokens: 0 };
  return { evaluation: { answers: {}, costUsd, usage } as Evaluation };
}

test("the totals are sums, of the reported costs or else by the tokens", () => {
  const totals = new RunTotals(price);
  totals.add(answer(0.5));
  totals.add(answer(0.25));
  totals.add(answer(null));
  expect(totals).toMatchObject({ succeeded: 3, inputTokens: 3000, costUsd: 0.751 });
});

test("answers without any price have an unknown cost, not none", () => {
  const unknown = new RunTotals({ inputUsdPerMillionTokens: null, source: "" });
  const free = new RunTotals({ inputUsdPerMillionTokens: 0, source: "" });
  for (const totals of [unknown, free]) totals.add(answer(null));
  expect([unknown.isUnpriced, free.isUnpriced]).toEqual([true, false]);
});

test("lost attempts are part of the total", () => {
  const totals = new RunTotals(price);
  totals.add({ ...answer(0.5), lostUsd: 0.25 });
  totals.add({ error: "Lost.", lostUsd: 0.25 });
  expect(totals.costUsd).toBe(1);
});
