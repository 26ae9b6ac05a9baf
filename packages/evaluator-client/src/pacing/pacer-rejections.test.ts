import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { RateLimitError, TimeoutError } from "../errors.ts";
import { pacedCalls } from "../testing/paced-calls.ts";

test("rejects a waiting call when its deadline passes", async () => {
  const { ask, admitted, rejected, clock } = pacedCalls({ requestsPerMinute: 60 });
  await ask("a");
  await ask("e", { deadlineAtMs: 500, deadlineMs: 700 });
  await clock.advance(499);
  expect(rejected).toEqual({});
  await clock.advance(1);
  expect(rejected["e"]).toBeInstanceOf(TimeoutError);
  expect(rejected["e"]).toMatchObject({
    message:
      "The deadline of 700 ms (deadlineMs) leaves no time for the request. It was not sent: its turn under the rate limit did not come in time.",
    limit: "deadline",
    timeoutMs: 700,
    maybeBilled: false,
    isRetryable: false,
    retryAfterMs: null,
  });
  expect(admitted).toEqual(["a"]);
  expect(clock.waiting).toBe(0);
});

test("rejects at once when a pause ends only after the deadline", async () => {
  const { ask, end, rejected, clock, pause } = pacedCalls({}, 0);
  for (const name of ["b", "early"]) await ask(name);
  await pause(5000.5);
  await ask("late", { deadlineAtMs: 5000.5, deadlineMs: 6000 });
  await ask("in time", { deadlineAtMs: 5001, deadlineMs: 7000 });
  expect(Object.keys(rejected)).toEqual(["late"]);
  expect(rejected["late"]).toMatchObject({
    message:
      "The deadline of 6000 ms (deadlineMs) leaves no time for the request. It was not sent: after a rate limit, nothing is sent for another 5001 ms.",
    limit: "deadline",
    timeoutMs: 6000,
    maybeBilled: false,
    retryAfterMs: 5000.5,
  });
  await end("b", (admission) => admission.throttled(9000));
  expect(Object.keys(rejected)).toEqual(["late", "in time"]);
  expect(rejected["in time"]).toMatchObject({ retryAfterMs: 9000 });
  expect(clock.waiting).toBe(0);
});

test("lets the others go when the one in front gives up", async () => {
  const { ask, admitted, rejected, clock } = pacedCalls({ tokensPerSecond: 100 });
  const controller = new AbortController();
  await ask("a", { tokens: 90 });
  await ask("large", { tokens: 95, signal: controller.signal });
  await ask("small", { tokens: 5 });
  expect(admitted).toEqual(["a"]);
  controller.abort("enough");
  await clock.advance(0);
  expect(rejected).toEqual({ large: "enough" });
  expect(admitted).toEqual(["a", "small"]);
  expect(clock.waiting).toBe(0);
});

test("takes no slot for a call that is aborted already", async () => {
  const { ask, admitted, rejected } = pacedCalls();
  await ask("a", { signal: AbortSignal.abort("enough") });
  expect(rejected).toEqual({ a: "enough" });
  for (const name of ["b", "c", "d", "e"]) await ask(name);
  expect(admitted).toEqual(["b", "c", "d", "e"]);
});

test("counts a deadline from the clock's beginning, not from the asking", async () => {
  const { ask, rejected, clock } = pacedCalls({ requestsPerMinute: 6 });
  await ask("a");
  await clock.advance(1000);
  await ask("e", { deadlineAtMs: 1500, deadlineMs: 1500 });
  await clock.advance(499);
  expect(rejected).toEqual({});
  await clock.advance(1);
  expect(rejected).toMatchObject({ e: { limit: "deadline" } });
});

test("listens to a signal only while the call waits", async () => {
  const { ask, admitted, rejected, clock } = pacedCalls({ requestsPerMinute: 60 });
  const { signal } = new AbortController();
  await ask("a", { signal });
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
  await ask("admitted", { signal });
  await ask("rejected", { signal, deadlineAtMs: 100, deadlineMs: 100 });
  expect(getEventListeners(signal, "abort")).toHaveLength(2);
  await clock.advance(2000);
  expect(admitted).toEqual(["a", "admitted"]);
  expect(Object.keys(rejected)).toEqual(["rejected"]);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("rejects a call when its patience ends while the probe has no answer", async () => {
  const { ask, rejected, clock, pause } = pacedCalls({}, 0);
  await pause(1000);
  await clock.advance(1000);
  await ask("probe");
  await ask("impatient", { patience: { endsAtMs: 3000, isMeant: () => true } });
  await clock.advance(1999);
  expect(rejected).toEqual({});
  await clock.advance(1);
  expect(rejected["impatient"]).toBeInstanceOf(RateLimitError);
  expect(rejected["impatient"]).toMatchObject({
    message: "It was not sent: the service refuses calls with status 429. Ask it again later.",
  });
});
