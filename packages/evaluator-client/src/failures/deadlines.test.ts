import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import type { EvaluateOptions } from "../evaluator-options.ts";
import { emailRequest } from "../testing/email-evaluation.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { gatewaysAndServers } from "../testing/private-call.ts";
import { httpResponse } from "../testing/socket-server.ts";

const throttled = (headers: Record<string, string> = {}) =>
  httpResponse(429, JSON.stringify({ error: { message: "Too many." } }), headers);

describe.each(gatewaysAndServers)("%s", (_, transportTo, listen) => {
  /**
   * One call to a server that gives these answers in turn, "reset" for a reset connection; after them
   * it is silent. Time moves on when the call waits, or its request has met silence.
   */
  async function callOver(answers: (Uint8Array | "reset")[], options: EvaluateOptions) {
    const clock = new ManualClock();
    const sentAtMs: number[] = [];
    await using server = await listen((socket) => {
      const answer = answers[sentAtMs.push(clock.now()) - 1];
      if (answer === "reset") socket.resetAndDestroy();
      else if (answer === undefined) void clock.next();
      else socket.write(answer);
    });
    const onWait = () => void setImmediate().then(() => clock.next());
    const transport = transportTo(server.origin);
    const evaluator = createEvaluator({ transport, onWait }, { clock, random: () => 1 });
    const asked = evaluator.evaluate(emailRequest, options);
    const error = await asked.catch((thrown: unknown) => thrown);
    return { clock, sentAtMs, error };
  }

  test("spends the deadline over all attempts, the last one cut short", async () => {
    const options = { deadlineMs: 10_000, attemptTimeoutMs: 4000, maxRetries: 5 };
    const { clock, sentAtMs, error } = await callOver([], options);
    const fields = { name: "TimeoutError", limit: "deadline", timeoutMs: 10_000, attempts: 3 };
    expect(error).toMatchObject(fields);
    expect(sentAtMs).toEqual([0, 4250, 8750]);
    expect(clock.waiting).toBe(0);
  });

  test("does not back off past the deadline", async () => {
    const { clock, sentAtMs, error } = await callOver(["reset", "reset"], { deadlineMs: 750 });
    expect(error).toMatchObject({ name: "ConnectionError", attempts: 2 });
    const note = "The next attempt would start past the deadline of 750 ms (deadlineMs).";
    expect(error).toHaveProperty("message", expect.stringContaining(note));
    expect(sentAtMs).toEqual([0, 250]);
    expect(clock.waiting).toBe(0);
  });

  test.each([
    [{ "retry-after": "7" }, 7000, "7000 ms"],
    [{ "retry-after-ms": "6500" }, 6500, "6500 ms"],
    [{ "retry-after": "Sat, 21 Nov 2026 00:00:30 GMT" }, 30_000, "30 s"],
    [{ "retry-after": "99999" }, 99_999_000, "28 hours"],
    [{ "retry-after": "9".repeat(400) }, 36_500 * 86_400_000, "36500 days"],
  ])("does not wait past the deadline after %j", async (headers, retryAfterMs, wait) => {
    const answers = [throttled(headers)];
    const { clock, sentAtMs, error } = await callOver(answers, { deadlineMs: 6000 });
    expect(error).toMatchObject({ name: "GatewayRateLimitError", retryAfterMs, attempts: 1 });
    const note = `The service asks to wait ${wait}.`;
    expect(error).toHaveProperty("message", expect.stringContaining(note));
    expect(sentAtMs).toEqual([0]);
    expect(clock.waiting).toBe(0);
  });

  test("waits as long as Retry-After says when the deadline allows it", async () => {
    const answers = [throttled({ "retry-after": "7" }), throttled(), throttled()];
    const { clock, sentAtMs, error } = await callOver(answers, {});
    expect(error).toMatchObject({ name: "GatewayRateLimitError", attempts: 3 });
    expect(sentAtMs).toEqual([0, 7700, 9700]);
    expect(clock.waiting).toBe(0);
  });

  test("calls the limit the attempt's when the deadline is as long", async () => {
    const { error } = await callOver([], { deadlineMs: 4000, attemptTimeoutMs: 4000 });
    expect(error).toMatchObject({
      limit: "attempt",
      timeoutMs: 4000,
      attempts: 1,
      message:
        "No whole response arrived within 4000 ms (attemptTimeoutMs); raise that option or try again later. The next attempt would start past the deadline of 4000 ms (deadlineMs).",
    });
  });

  test("says that its turn did not come when the deadline passes before the first attempt", async () => {
    const clock = new ManualClock();
    await using server = await listen(() => undefined);
    const options = { transport: transportTo(server.origin), limits: { requestsPerMinute: 60 } };
    const evaluator = createEvaluator(options, { clock });
    evaluator.evaluate(emailRequest).catch(() => undefined);
    const rejected = evaluator.evaluate(emailRequest, { deadlineMs: 500 });
    const error = rejected.catch((thrown: unknown) => thrown);
    await clock.advance(500);
    const fields = { name: "TimeoutError", limit: "deadline", timeoutMs: 500, attempts: 0 };
    expect(await error).toMatchObject({ ...fields, maybeBilled: false });
    expect(server.requests.length).toBeLessThan(2);
  });
});
