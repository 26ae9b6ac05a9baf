import { expect, test } from "vitest";
import { ManualClock } from "../testing/manual-clock.ts";
import { Pause, retryDelayMs } from "./call-queue.ts";
import { createPacer } from "./pacer.ts";

const refusal = { retryAfterMs: 2000, random: 0, cause: null };

test("lasts as long as it was announced, not until the probe", async () => {
  const clock = new ManualClock();
  const pacer = createPacer({}, { clock, random: () => 0 });
  const refuseFour = () => {
    const refused = Array.from({ length: 4 }, () => pacer.admitNow(1));
    return refused.map((admission) => admission?.throttled(2000));
  };
  refuseFour(); // might be strays
  await clock.advance(2000);
  pacer.admitNow(1)?.succeeded(1);
  const admitted = Array.from({ length: 14 }, () => pacer.admitNow(1));
  await clock.advance(100);
  for (const admission of admitted.slice(4)) admission?.succeeded(1);
  expect(refuseFour()).toEqual(["stray", "stray", "stray", "limit"]);
  for (const admission of admitted.slice(0, 4)) admission?.ended();
  await clock.advance(1999);
  expect(pacer.admitNow(1)).toBeNull();
  await clock.advance(3_600_000);
  const probe = pacer.admitNow(1);
  expect(pacer.admitNow(1)).toBeNull();
  probe?.succeeded(1);
  // Twelve answers in 100 ms and the pause of 2 s: one in 175 ms.
  expect(pacer.admitNow(1)).not.toBeNull();
  await clock.advance(174);
  expect(pacer.admitNow(1)).toBeNull();
  await clock.advance(1);
  expect(pacer.admitNow(1)).not.toBeNull();
});

test("has no end for an impatient call once its probe was refused", () => {
  const pause = new Pause();
  pause.extendTo(pause.addRefusal(refusal));
  expect([pause.leftMs(500), pause.endsAtMs(500)]).toEqual([1500, 2000]);
  expect([pause.leftMs(2500), pause.endsAtMs(2500)]).toEqual([0, 2500]);
  pause.extendTo(3000 + pause.addRefusal(refusal));
  expect(pause.endsAtMs(3000)).toBe(Number.POSITIVE_INFINITY);
});

test("is not shortened by a later refusal with a shorter wait", () => {
  const pause = new Pause();
  pause.extendTo(5000);
  pause.extendTo(2000);
  expect(pause.leftMs(0)).toBe(5000);
});

const failed = { retries: 0, isThrottled: false, retryAfterMs: null, random: 1 };

test.each([
  [{}, 250],
  [{ random: 0.5 }, 125],
  [{ random: 0 }, 0],
  [{ retries: 2 }, 1000],
  [{ retries: 20 }, 8000],
  [{ isThrottled: true }, 1000],
  [{ isThrottled: true, random: 0.5 }, 500],
  [{ retryAfterMs: 3000 }, 3300],
  [{ retryAfterMs: 3000, random: 0 }, 3000],
  [{ retryAfterMs: 60_000 }, 61_000],
])("a retry after %o waits %i ms", (changes, delayMs) => {
  expect(retryDelayMs({ ...failed, ...changes })).toBe(delayMs);
});
