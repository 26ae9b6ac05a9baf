import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { ConfigurationError, StatusError } from "../errors.ts";
import { mostTokens } from "../transports/call-estimate.ts";
import { answeringTransport } from "../testing/answering-transport.ts";
import { countingTransport } from "../testing/counting-transport.ts";
import { escalating, questions, request } from "../testing/escalating.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { statusDetails } from "../testing/status-details.ts";
import { budget } from "./budget.ts";
import { escalate } from "./escalate.ts";
import { fallback } from "./fallback.ts";

const most = mostTokens(request);
/** The tokens of an answer by {@link answeringTransport}. */
const each = 103;
const down = () => Promise.reject(new StatusError("Down.", statusDetails(503)));

test("a budget reserves a third call beside the refused answer of the second", async () => {
  const third = answeringTransport({ name: "third", answers: { scam: 0.97, deal: 0.99 } });
  const helper = createEvaluator({ transport: third.transport });
  const bounds = { scam: { below: 0.8 }, deal: { below: 0.999 } };
  const second = { answers: { scam: { type: "refusal" }, deal: 0.5 } };
  const ask = async (maxTokens: number) => {
    const spent = budget({ maxTokens });
    const { evaluator } = escalating({ second, bounds });
    await evaluator.with(escalate(helper, bounds)).with(spent).evaluate(request);
    return [third.asked.length, spent.spending.tokens];
  };
  expect(await ask(3 * most - 1)).toEqual([0, 2 * each]);
  expect(await ask(3 * most)).toEqual([1, 3 * each]);
});

test.each([
  ["answers", 10_000, 2],
  ["has no room", 2 * most - 1, 1],
])(
  "a budget counts the answers of a fallback whose own second evaluator %s once each",
  async (_, maxTokens, answers) => {
    const spent = budget({ maxTokens });
    const first = countingTransport({ answer: down });
    const evaluator = createEvaluator({ transport: first.transport, maxRetries: 0 });
    const helped = evaluator.with(fallback(escalating().evaluator)).with(spent);
    expect((await helped.evaluate(request)).steps?.length ?? 1).toBe(answers);
    expect(spent.spending).toMatchObject({ tokens: answers * each, reservedTokens: 0 });
  },
);

test("a budget counts the answer of a fallback whose own second evaluator is not configured", async () => {
  const spent = budget({ maxTokens: 10_000 });
  const first = countingTransport({ answer: down });
  const second = answeringTransport({ name: "second", answers: { scam: 0.5, deal: 0.5 } });
  const unconfigured = async () => {
    throw new ConfigurationError("No key.", { option: "apiKey" });
  };
  const bounds = { scam: { below: 0.8 } };
  const other = createEvaluator({ transport: second.transport });
  const asked = createEvaluator({ transport: first.transport, maxRetries: 0 })
    .with(fallback(other.with(escalate({ evaluate: unconfigured }, bounds))))
    .with(spent)
    .evaluate(request);
  await expect(asked).rejects.toThrow("No key.");
  expect(second.asked).toHaveLength(1);
  expect(spent.spending).toMatchObject({ tokens: most, reservedTokens: 0 });
});

test("a budget counts a second call that the deadline meets on its way once", async () => {
  const clock = new ManualClock();
  const spent = budget({ maxTokens: 10_000 });
  const hanging = countingTransport({ answer: () => new Promise(() => undefined) });
  const own = countingTransport({ answer: down });
  const other = createEvaluator({ transport: hanging.transport }, { clock });
  const evaluator = createEvaluator({ transport: own.transport, maxRetries: 0 }, { clock });
  const { scam } = questions;
  const asked = { state: request.state, questions: { scam } };
  const call = evaluator
    .with(fallback(other))
    .with(spent)
    .evaluate(asked, { deadlineMs: 500 })
    .catch(({ name }: Error) => name);
  await clock.advance(1000);
  expect([await call, hanging.states.length]).toEqual(["TimeoutError", 1]);
  expect(spent.spending.tokens).toBe(mostTokens(asked));
});
