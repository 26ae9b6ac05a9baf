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

test("counts a lost attempt and the one after it, on which the call was aborted", async () => {
  const lost = new ConnectionError("Lost.", { maybeBilled: true, isRetryable: true });
  const controller = new AbortController();
  const answers = [() => Promise.reject(lost), () => new Promise<never>(() => undefined)];
  const { transport, states } = countingTransport({ answer: async () => answers.shift()?.() });
  const spent = budget({ maxTokens: 10_000 });
  const clock = new ManualClock();
  const evaluator = createEvaluator({ transport }, { clock, random: () => 0 }).with(spent);
  const call = evaluator.evaluate(scamRequest("a"), { signal: controller.signal });
  await Promise.all([expect(call).rejects.toThrow("enough"), abortSecond()]);
  expect(spent.spending.tokens).toBe(2 * mostTokens(scamRequest("a")));
  async function abortSecond() {
    await clock.advance(10_000);
    expect(states).toHaveLength(2);
    controller.abort(new Error("enough"));
  }
});

test("counts a lost call once for each of its attempts", async () => {
  const lost = new ConnectionError("Lost.", { maybeBilled: true, isRetryable: true });
  const { transport } = countingTransport({ answer: () => Promise.reject(lost) });
  const spent = budget({ maxTokens: 10_000 });
  const clock = new ManualClock();
  const options = { transport, maxRetries: 2 };
  const evaluator = createEvaluator(options, { clock, random: () => 0 }).with(spent);
  const call = evaluator.evaluate(scamRequest("a"));
  await Promise.all([expect(call).rejects.toThrow("after 3 attempts"), clock.advance(60_000)]);
  expect(spent.spending.tokens).toBe(3 * mostTokens(scamRequest("a")));
});

test("counts the lost attempts of a call that is answered or refused in the end", async () => {
  const lost = new ConnectionError("Lost.", { maybeBilled: true, isRetryable: true });
  const unsent = new ConnectionError("Refused.", { maybeBilled: false, isRetryable: true });
  for (const last of [null, unsent]) {
    const errors = [lost, unsent, lost, last];
    const answer = async () => {
      const error = errors.shift() ?? null;
      if (error !== null) throw error;
    };
    const { transport } = countingTransport({ answer });
    const spent = budget({ maxCostUsd: 1, usdPerMillionTokens: 10 });
    const clock = new ManualClock();
    const options = { transport, maxRetries: 3 };
    const evaluator = createEvaluator(options, { clock, random: () => 0 }).with(spent);
    const call = evaluator.evaluate(scamRequest("a")).catch((error: unknown) => error);
    await Promise.all([call, clock.advance(60_000)]);
    const each = mostTokens(scamRequest("a"));
    const answered = last === null ? 103 : 0;
    expect(spent.spending.tokens).toBe(2 * each + answered);
    expect(spent.spending.costUsd).toBeCloseTo(
      (2 * each * 10) / 1e6 + (last === null ? 0.001 : 0),
      12,
    );
  }
});
