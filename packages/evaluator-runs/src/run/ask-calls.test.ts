import { ConfigurationError, EvaluatorError } from "evaluator-client";
import { expect, test } from "vitest";
import { FailureStreak } from "./ask-calls.ts";

const busy = new EvaluatorError("Busy.", { isRetryable: true });

function fail(streak: FailureStreak, times: number, error: EvaluatorError = busy): void {
  for (let time = 0; time < times; time += 1) streak.ended(error);
}

test("a service that is down for twenty mails in a row ends the run", () => {
  const streak = new FailureStreak();
  fail(streak, 19);
  expect(streak.finalError).toBeNull();
  fail(streak, 1);
  expect(streak.finalError).toBe(busy);
});

test("one answer between them lets it go on", () => {
  const streak = new FailureStreak();
  fail(streak, 19);
  streak.ended(null);
  fail(streak, 19);
  expect(streak.finalError).toBeNull();
});

test("mails that fail each for their own reason never end the run", () => {
  const streak = new FailureStreak();
  fail(streak, 100, new EvaluatorError("The answers break the contract."));
  expect(streak.finalError).toBeNull();
});

test("a wrong setting ends it at once", () => {
  const streak = new FailureStreak();
  const error = new ConfigurationError("No key.", { option: "apiKey" });
  fail(streak, 1, error);
  expect(streak.finalError).toBe(error);
});
