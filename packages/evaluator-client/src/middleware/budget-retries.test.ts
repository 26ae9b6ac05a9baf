import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { ConnectionError } from "../errors.ts";
import { mostTokens } from "../transports/call-estimate.ts";
import { countingTransport, scamRequest } from "../testing/counting-transport.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { budget } from "./budget.ts";

test("holds back a retry that might pass the budget after lost attempts", async () => {
  const lost = new ConnectionError("Lost.", { maybeBilled: true, isRetryable: true });
  const { transport, states } = countingTransport({ answer: () => Promise.reject(lost) });
  const each = mostTokens(scamRequest("a"));
  const spent = budget({ maxTokens: Math.floor(2.5 * each) });
  const clock = new ManualClock();
  const evaluator = createEvaluator({ transport, maxRetries: 5 }, { clock, random: () => 0 });
  const call = evaluator.with(spent).evaluate(scamRequest("a"));
  await Promise.all([
    expect(call).rejects.toMatchObject({ name: "BudgetError", limit: "maxTokens" }),
    clock.advance(60_000),
  ]);
  expect(states).toHaveLength(2);
  expect(spent.spending).toMatchObject({ tokens: 2 * each, reservedTokens: 0 });
});
