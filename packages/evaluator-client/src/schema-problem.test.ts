import { expect, test } from "vitest";
import { createEvaluator, type EvaluatorOptions, gatewayTransport } from "./index.ts";

const transport = gatewayTransport({ apiKey: "local-key" });

test.each([
  [{ maxRetries: "3" }, 'The option "maxRetries" is wrong: use a number.'],
  [{ maxRetries: -1 }, 'The option "maxRetries" is wrong: use at least 0.'],
  [{ limits: { requestsPerMinute: "a" } }, '"limits.requestsPerMinute" is wrong: use a number.'],
  [{ limits: { requestsPerMinute: 0 } }, '"limits.requestsPerMinute" is wrong: use'],
])("%j: a wrong value gets the next step in plain words", (options, message) => {
  const wrongOptions = { transport, ...options } as EvaluatorOptions;
  expect(() => createEvaluator(wrongOptions)).toThrow(message);
});
