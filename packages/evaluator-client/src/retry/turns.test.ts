import { expect, test } from "vitest";
import { sleep } from "../clock.ts";
import { RateLimitError, StatusError } from "../errors.ts";
import type { Admission } from "../pacing/call-queue.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { statusDetails } from "../testing/status-details.ts";
import { Attempt } from "./retried-call.ts";

const timedOut = new Error("It took too long.");
const pastDeadline = new Error("It took longer than the call.");

/** An admission that keeps what it is called with. */
function keptAdmission(verdict: "limit" | "stray" = "stray") {
  const calls: unknown[] = [];
  const admission: Admission = {
    succeeded: (tokensUsed) => void calls.push({ succeeded: tokensUsed }),
    throttled(retryAfterMs) {
      calls.push({ throttled: retryAfterMs });
      return verdict;
    },
    ended: () => void calls.push("ended"),
  };
  return { calls, admission };
}

const { signal } = new AbortController();
const nobody = () => Promise.reject(new Error("nobody waits"));

function attemptWith(own: { admission: Admission }, waitForTurn: () => Promise<Admission>) {
  return new Attempt({ clock: new ManualClock() }, own.admission, { waitForTurn });
}

/** Runs an attempt of a second that has used its own turn and gets others at these times, and returns when it is over. */
async function endOf(
  turnsAtMs: readonly number[],
  send: (
    inTurn: (send: () => Promise<unknown>) => Promise<unknown>,
    clock: ManualClock,
  ) => Promise<unknown>,
  { leftMs = Infinity } = {},
): Promise<{ outcome: unknown; atMs: number }> {
  const clock = new ManualClock();
  const times = [...turnsAtMs];
  const { admission } = keptAdmission();
  const attempt = new Attempt({ clock }, admission, {
    async waitForTurn() {
      await sleep((times.shift() ?? 0) - clock.now(), { clock });
      return admission;
    },
  });
  await attempt.inTurn(signal, async () => undefined);
  const limits = {
    signal: undefined,
    timeoutMs: 1000,
    leftMs,
    createTimeoutError: (isLast: boolean) => (isLast ? pastDeadline : timedOut),
  };
  const ended = attempt
    .run(
      (context) => send(async (sendOne) => context.inTurn?.(context.signal, sendOne), clock),
      limits,
    )
    .catch((error: unknown) => error)
    .then((outcome) => ({ outcome, atMs: clock.now() }));
  for (let step = 0; step < 80; step += 1) await clock.advance(50);
  return await ended;
}

test("waiting for a turn takes nothing of the attempt's time", async () => {
  const end = await endOf([800, 2000], async (inTurn, clock) => {
    const send = () => sleep(450, { clock });
    await inTurn(send);
    await inTurn(send);
    return "answer";
  });
  expect(end).toEqual({ outcome: "answer", atMs: 2450 });
});

test("waiting for a turn does not move the deadline", async () => {
  const never = () => new Promise(() => undefined);
  const end = await endOf([3000], (inTurn) => inTurn(never), { leftMs: 700 });
  expect(end).toEqual({ outcome: pastDeadline, atMs: 700 });
});

test("what an attempt needs beside its waiting ends it when its time is up", async () => {
  const end = await endOf([800, 2000], async (inTurn, clock) => {
    await inTurn(() => sleep(450, { clock }));
    await inTurn(() => sleep(600, { clock }));
  });
  expect(end).toEqual({ outcome: timedOut, atMs: 2550 });
});

test("waiting for several turns at a time counts once", async () => {
  const end = await endOf([600, 900], async (inTurn, clock) => {
    const never = () => sleep(5000, { clock });
    const early = inTurn(never);
    await sleep(300, { clock });
    await Promise.all([early, inTurn(never)]);
  });
  expect(end).toEqual({ outcome: timedOut, atMs: 1900 });
});

test("while an attempt waits for its turn, its time stands still", async () => {
  const end = await endOf([3000], async (inTurn, clock) => {
    await sleep(900, { clock });
    await inTurn(async () => "late");
    return "answer";
  });
  expect(end).toEqual({ outcome: "answer", atMs: 3000 });
});

const throttledFor = (retryAfterMs: number) =>
  new RateLimitError("", statusDetails(429, { retryAfterMs }));

test("an attempt of one request tells its own admission how it went", () => {
  const own = keptAdmission("limit");
  attemptWith(own, nobody).succeeded(42);
  expect(attemptWith(own, nobody).failed(throttledFor(700))).toBe("limit");
  expect(attemptWith(own, nobody).failed(new Error("a defect"))).toBe("final");
  expect(own.calls).toEqual([{ succeeded: 42 }, { throttled: 700 }, "ended"]);
});

test("of several requests the first has the attempt's own admission, each other waits for one", async () => {
  const [own, second] = [keptAdmission(), keptAdmission()];
  const attempt = attemptWith(own, async () => second.admission);
  expect(await attempt.inTurn(signal, async () => "one")).toBe("one");
  expect(own.calls).toEqual([{ succeeded: null }]);
  expect(second.calls).toEqual([]);
  expect(await attempt.inTurn(signal, async () => "two")).toBe("two");
  attempt.succeeded(42);
  expect([own.calls, second.calls]).toEqual([[{ succeeded: null }], [{ succeeded: null }]]);
});

test("what stops the waiting for a turn is what the transport gives for it", async () => {
  const asked: AbortSignal[] = [];
  const waitForTurn = (stop: AbortSignal) => (asked.push(stop), nobody());
  const clock = new ManualClock();
  const attempt = new Attempt({ clock }, keptAdmission().admission, { waitForTurn });
  await attempt.inTurn(signal, async () => undefined);
  await expect(attempt.inTurn(signal, async () => undefined)).rejects.toThrow("nobody waits");
  expect(asked).toEqual([signal]);
});

test.each([
  [["limit", "stray"], "limit"],
  [["stray", "limit"], "limit"],
  [["stray", "stray"], "stray"],
] as const)(
  "requests that show %j make the attempt one that shows a %s",
  async (shown, verdict) => {
    const [own, second] = [keptAdmission(shown[0]), keptAdmission(shown[1])];
    const attempt = attemptWith(own, async () => second.admission);
    const error = throttledFor(700);
    const fail = () => attempt.inTurn(signal, () => Promise.reject(error));
    expect(await Promise.allSettled([fail(), fail()])).toEqual([
      { status: "rejected", reason: error },
      { status: "rejected", reason: error },
    ]);
    expect(attempt.failed(error)).toBe(verdict);
    expect([own.calls, second.calls]).toEqual([[{ throttled: 700 }], [{ throttled: 700 }]]);
  },
);

test.each([
  ["retryable", new StatusError("", statusDetails(500))],
  ["final", new Error("a defect")],
])("an attempt of several requests that fails otherwise is %s", async (expected, error) => {
  const own = keptAdmission("limit");
  const attempt = attemptWith(own, nobody);
  await expect(attempt.inTurn(signal, () => Promise.reject(error))).rejects.toBe(error);
  expect(attempt.failed(error)).toBe(expected);
  expect(own.calls).toEqual(["ended"]);
});
