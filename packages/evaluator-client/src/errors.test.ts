import { expect, test } from "vitest";
import { createEvaluator } from "./create-evaluator.ts";
import type * as errors from "./errors.ts";
import { AuthenticationError, ConnectionError, RateLimitError, StatusError } from "./errors.ts";
import { countingTransport, scamRequest } from "./testing/counting-transport.ts";
import { statusDetails } from "./testing/status-details.ts";

const address = new URL("errors.ts?another-copy", import.meta.url).href;
const another = (await import(address)) as typeof errors;
const slow = new another.RateLimitError("Slow down.", statusDetails(429));

test("errors of another copy of the package are instances of their classes", () => {
  expect(another.RateLimitError).not.toBe(RateLimitError);
  const classes = [RateLimitError, StatusError, AuthenticationError, ConnectionError];
  expect(classes.map((one) => slow instanceof one)).toEqual([true, true, false, false]);
});

test("errors of other packages are not, whatever they are called", () => {
  const other = new (class RateLimitError extends Error {})();
  const values = [other, Object.assign(Object.create(null) as object, { attempts: 1 }), null, 1];
  expect(values.map((value) => value instanceof RateLimitError)).toEqual(values.map(() => false));
});

test("a call is repeated after an error of another copy, as a transport of it throws", async () => {
  const failures = [slow];
  const { transport } = countingTransport({
    answer: async () => {
      const failure = failures.pop();
      if (failure !== undefined) throw failure;
    },
  });
  const evaluator = createEvaluator({ transport }, { random: () => 0 });
  expect((await evaluator.evaluate(scamRequest("hello"))).timing.attempts).toBe(2);
});
