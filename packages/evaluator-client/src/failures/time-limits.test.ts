import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { emailRequest } from "../testing/email-evaluation.ts";
import { createEvaluator, type EvaluateOptions } from "../create-evaluator.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { gatewaysTo, privateFailure, privateKey } from "../testing/private-call.ts";
import { listenOnSocket } from "../testing/socket-server.ts";
import { gatewayTransport } from "../transports/gateway/gateway-transport.ts";

const head = "HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n";

/** Sends one byte a second for as long as the other side listens. */
async function drip(socket: Socket, { first, clock }: { first: string; clock: ManualClock }) {
  socket.write(first);
  while (!socket.destroyed && socket.writable) {
    await clock.advance(1000);
    socket.write(" ");
  }
}

describe.each(gatewaysTo)("%s", (_, transportTo) => {
  test.each([
    ["the head", "HTTP/1.1 200 OK\r\nX-Slow: "],
    ["the body", head],
  ])("ends each attempt at its limit while %s drips", async (_name, first) => {
    const clock = new ManualClock();
    await using server = await listenOnSocket((socket) => void drip(socket, { first, clock }));
    const limits = { clock, attemptTimeoutMs: 5000, deadlineMs: 100_000_000 };
    const error = await privateFailure(transportTo(server.origin), limits);
    expect(error).toMatchObject({
      name: "TimeoutError",
      limit: "attempt",
      timeoutMs: 5000,
      retryAfterMs: null,
      isRetryable: true,
      maybeBilled: true,
      attempts: 3,
    });
    expect(error.message).toMatch(/within 5000 ms \(attemptTimeoutMs\).* after 3 attempts$/);
    expect(server.requests).toHaveLength(3);
    expect(clock.waiting).toBe(0);
  });

  test("ends everything at the deadline while the body drips", async () => {
    const clock = new ManualClock();
    await using server = await listenOnSocket(
      (socket) => void drip(socket, { first: head, clock }),
    );
    const limits = { clock, attemptTimeoutMs: 8000, deadlineMs: 5000 };
    const error = await privateFailure(transportTo(server.origin), limits);
    expect(error).toMatchObject({
      name: "TimeoutError",
      limit: "deadline",
      timeoutMs: 5000,
      isRetryable: false,
      maybeBilled: true,
      attempts: 1,
    });
    expect(error.message).toContain("within 5000 ms (deadlineMs)");
    expect(server.requests).toHaveLength(1);
    expect(clock.waiting).toBe(0);
  });
});

/** Calls over a `fetch` that gives these answers in turn; null never answers. */
function callOver(answers: (Response | Error | null)[], options: EvaluateOptions) {
  const clock = new ManualClock();
  const sentAtMs: number[] = [];
  const fetch = () => {
    const answer = answers[sentAtMs.push(clock.now()) - 1];
    if (answer instanceof Error) return Promise.reject(answer);
    return answer ? Promise.resolve(answer) : new Promise<never>(() => undefined);
  };
  const transport = gatewayTransport({ apiKey: privateKey, fetch });
  const evaluator = createEvaluator({ transport }, { clock, random: () => 1 });
  const outcome = evaluator.evaluate(emailRequest, options).catch((thrown: unknown) => thrown);
  return { clock, sentAtMs, outcome };
}

function throttled(headers: Record<string, string> = {}): Response {
  return Response.json({ error: { message: "Too many." } }, { status: 429, headers });
}

test("spends the deadline over all attempts, the last one cut short", async () => {
  const options = { deadlineMs: 10_000, attemptTimeoutMs: 4000, maxRetries: 5 };
  const { clock, sentAtMs, outcome } = callOver([], options);
  await clock.advance(10_000);
  const fields = { name: "TimeoutError", limit: "deadline", timeoutMs: 10_000, attempts: 3 };
  expect(await outcome).toMatchObject(fields);
  expect(sentAtMs).toEqual([0, 4250, 8750]);
  expect(clock.waiting).toBe(0);
});

test("does not back off past the deadline", async () => {
  const reset = Object.assign(new Error("reset"), { code: "ECONNRESET" });
  const { clock, sentAtMs, outcome } = callOver([reset, reset], { deadlineMs: 750 });
  await clock.advance(250);
  const error = await outcome;
  expect(error).toMatchObject({ name: "ConnectionError", attempts: 2 });
  const note = "The next attempt would start past the deadline of 750 ms (deadlineMs).";
  expect(error).toHaveProperty("message", expect.stringContaining(note));
  expect(sentAtMs).toEqual([0, 250]);
  expect(clock.waiting).toBe(0);
});

test.each([
  [{ "retry-after": "7" }, 7000],
  [{ "retry-after-ms": "6500" }, 6500],
  [{ "retry-after": "Sat, 21 Nov 2026 00:00:30 GMT" }, 30_000],
])("does not wait past the deadline after %j", async (headers, retryAfterMs) => {
  const { clock, sentAtMs, outcome } = callOver([throttled(headers)], { deadlineMs: 6000 });
  const error = await outcome;
  expect(error).toMatchObject({ name: "GatewayRateLimitError", retryAfterMs, attempts: 1 });
  const note = `The service asks to wait ${retryAfterMs} ms.`;
  expect(error).toHaveProperty("message", expect.stringContaining(note));
  expect(sentAtMs).toEqual([0]);
  expect(clock.waiting).toBe(0);
});

test("waits as long as Retry-After says when the deadline allows it", async () => {
  const answers = [throttled({ "retry-after": "7" }), throttled(), throttled()];
  const { clock, sentAtMs, outcome } = callOver(answers, {});
  await clock.advance(60_000);
  expect(await outcome).toMatchObject({ name: "GatewayRateLimitError", attempts: 3 });
  expect(sentAtMs).toEqual([0, 7700, 9700]);
  expect(clock.waiting).toBe(0);
});
