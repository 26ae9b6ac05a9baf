import { ConnectionError, TimeoutError } from "evaluator-client";
import { expect, test } from "vitest";
import { toEvaluationFailure } from "./evaluation-failure.ts";

test("a passed time limit is a 504", () => {
  const limit = { timeoutMs: 5, limit: "deadline", maybeBilled: true } as const;
  const failure = toEvaluationFailure(new TimeoutError("No whole response arrived.", limit));
  expect(failure).toEqual({
    status: 504,
    error: "No whole response arrived.",
    retryAfterSeconds: null,
  });
});

test("any other lost connection is a 502", () => {
  const error = new ConnectionError("Could not connect.", { maybeBilled: false });
  expect(toEvaluationFailure(error)).toMatchObject({ status: 502, error: "Could not connect." });
});
