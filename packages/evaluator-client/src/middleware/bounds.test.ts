import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { ConfigurationError } from "../errors.ts";
import { score } from "../questions/kinds.ts";
import { answeringTransport } from "../testing/answering-transport.ts";
import { escalating } from "../testing/escalating.ts";
import { boundFrom, escalate } from "./escalate.ts";

test.each([
  ["null", null],
  ["an evaluator without evaluate", {}],
])("%s is no evaluator", (_, next) => {
  expect(() => escalate(next as never, {})).toThrow(ConfigurationError);
});

test.each([
  [{ scam: { above: 0.8 } }, "scam"],
  [{ scam: { below: 80 } }, "scam.below"],
  [{ scam: { between: [0.8, 0.2] } }, "the first is lower"],
  [{ scam: { below: 0.8, betwen: [0, 1] } }, 'the options are "below"'],
])("the bound %j is wrong", (bounds, message) => {
  const { next } = escalating();
  expect(() => escalate(next, bounds as never)).toThrow(ConfigurationError);
  expect(() => escalate(next, bounds as never)).toThrow(message);
});

test("between is for questions with a yes", async () => {
  const first = answeringTransport({ answers: {} });
  const { next } = escalating();
  const evaluator = createEvaluator({ transport: first.transport }).with(
    escalate(next, { level: { between: [0.2, 0.8] } }),
  );
  const asked = evaluator.evaluate({
    state: "a",
    questions: { level: score("?", ["low", "high"]) },
  });
  await expect(asked).rejects.toThrow("use { below }");
  expect(first.asked).toEqual([]);
});

test.each([
  ["0.8", { below: 0.8 }],
  ["1", { below: 1 }],
  ["0.2..0.8", { between: [0.2, 0.8] }],
])("the typed bound %j is %j", (text, bound) => {
  expect(boundFrom(text)).toEqual(bound);
});

test.each(["", "0,8", "1.1", "-1", "1e-1", "0.8..0.2", "0.5..0.5", "0.1..0.2..0.3", "..0.8"])(
  "%j is no bound",
  (text) => {
    expect(boundFrom(text)).toBeNull();
  },
);
