import { expect, test } from "vitest";
import { targetAt } from "../testing/reply-calls.ts";
import { gatewayUpstream } from "../testing/upstreams.ts";
import { createCooldowns } from "./cooldowns.ts";

const upstream = gatewayUpstream({ apiKey: "k", baseUrl: "http://gateway.invalid" });
const [first, second] = [targetAt(upstream, "a/first"), targetAt(upstream, "a/second")];
const plan = { targets: [first, second], maxRetries: 2, idleTimeoutMs: 0, timeoutMs: 0 } as const;

function cooldownsAt() {
  let nowMs = Date.UTC(2026, 10, 24);
  const cooldowns = createCooldowns(() => nowMs);
  const models = () => cooldowns.order(plan).plan.targets.map(({ model }) => model);
  return { ...cooldowns, models, wait: (ms: number) => (nowMs += ms) };
}

const failedWith = (retryAfter: string | null, isOfRequest = false) => ({
  cause: "model-failed" as const,
  httpError: { status: 503, code: null, retryAfter },
  isOfRequest,
});

test.each([
  ["a minute", null, 60_000],
  ["its Retry-After", "7", 7000],
  ["its Retry-After as a date", new Date(Date.UTC(2026, 10, 24, 0, 0, 9)).toUTCString(), 9000],
  ["at most ten minutes", "86400", 600_000],
])("a failed model is asked last for %s", (_, retryAfter, ms) => {
  const { note, order, models, wait } = cooldownsAt();
  expect(order(plan)).toEqual({ plan, cause: null });
  note(first, failedWith(retryAfter));
  wait(ms - 1);
  expect(models()).toEqual(["a/second", "a/first"]);
  expect(order(plan).cause).toBe("model-failed");
  wait(1);
  expect(models()).toEqual(["a/first", "a/second"]);
});

test("a reply ends it, and models that all failed keep their order", () => {
  const { note, order, models } = cooldownsAt();
  note(first, failedWith(null));
  note(second, failedWith(null));
  expect(order(plan)).toEqual({ plan, cause: null });
  note(second, null);
  expect(models()).toEqual(["a/second", "a/first"]);
  note(first, null);
  expect(models()).toEqual(["a/first", "a/second"]);
});

test("a failure of the request leaves no model alone", () => {
  const { note, models } = cooldownsAt();
  note(first, failedWith(null, true));
  note(first, { ...failedWith(null), cause: null });
  expect(models()).toEqual(["a/first", "a/second"]);
});
