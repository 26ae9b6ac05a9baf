import { expect, test } from "vitest";
import { seededRandom } from "../testing/limited-service.ts";
import { RateEstimate } from "./rate-estimate.ts";

/** Sends one attempt after the other to a service, each answered before the next is sent. */
class Sender {
  readonly rate = new RateEstimate();
  nowMs = 0;
  sent = 0;
  refused = 0;

  /** Sends attempts at the rate that is allowed, and no faster than `everyMs`. */
  send(count: number, isRefused: (nowMs: number) => boolean, everyMs = 10): this {
    for (let index = 0; index < count; index += 1) {
      const attempt = this.rate.sent();
      this.sent += 1;
      if (isRefused(this.nowMs)) {
        this.refused += 1;
        if (this.rate.refused(attempt, this.nowMs)) this.rate.reopened(this.nowMs, 1000);
      } else this.rate.succeeded(attempt, this.nowMs);
      this.nowMs += Math.max(everyMs, this.rate.intervalMs);
    }
    return this;
  }

  get perSecond(): number {
    return 1000 / this.rate.intervalMs;
  }
}

const never = () => false;
const strays = (share: number, seed: number) => {
  const random = seededRandom(seed);
  return () => random() < share;
};
/** A bucket that holds `burst` requests. */
function bucket(perSecond: number, burst: number) {
  let [held, atMs] = [burst, 0];
  return (nowMs: number) => {
    held = Math.min(burst, held + ((nowMs - atMs) * perSecond) / 1000);
    atMs = nowMs;
    if (held < 1) return true;
    held -= 1;
    return false;
  };
}

test("knows no limit before the first refusal, and after few of them", () => {
  expect(new Sender().send(1000, never).rate.isLimited).toBe(false);
  for (let seed = 1; seed <= 40; seed += 1) {
    expect([seed, new Sender().send(2000, strays(0.005, seed)).rate.isLimited]).toEqual([
      seed,
      false,
    ]);
  }
});

test("four refusals in a row ask for a pause, whatever the order of the answers", () => {
  const rate = new RateEstimate();
  const attempts = [0, 1, 2, 3, 4].map(() => rate.sent());
  expect([3, 1, 2].map((at) => rate.refused(attempts[at] as number, 10))).toEqual([
    false,
    false,
    false,
  ]);
  expect(rate.refused(attempts[4] as number, 10)).toBe(true);
});

test("a success sent between refusals is no row, also if its answer is slow", () => {
  const rate = new RateEstimate();
  const attempts = [0, 1, 2, 3, 4, 5, 6].map(() => rate.sent());
  for (const at of [0, 1, 2]) expect(rate.refused(attempts[at] as number, 10)).toBe(false);
  for (const at of [4, 5, 6]) expect(rate.refused(attempts[at] as number, 10)).toBe(false);
  rate.succeeded(attempts[3] as number, 500);
  expect(rate.isLimited).toBe(false);
});

test.each([0.05, 0.1])(
  "with a share of %d of strays the rate returns after experiments",
  (share) => {
    const times = Array.from(
      { length: 40 },
      (_, seed) => new Sender().send(3000, strays(share, seed)).nowMs,
    );
    const sorted = times.toSorted((one, other) => one - other);
    // At 10 ms apart they take 30 s; a rate that stayed at three quarters would take 40 s.
    expect(sorted[20]).toBeLessThan(32_000);
    expect(sorted[36]).toBeLessThan(36_000);
  },
);

test("finds the rate of a bucket, and lets it refuse less than 2 %", () => {
  for (const burst of [2, 20]) {
    const sender = new Sender();
    const isRefused = bucket(20, burst);
    sender.send(1200, isRefused);
    const [sentBefore, refusedBefore, startedAtMs] = [sender.sent, sender.refused, sender.nowMs];
    sender.send(2400, isRefused);
    const sent = sender.sent - sentBefore;
    expect((sender.refused - refusedBefore) / sent).toBeLessThan(0.02);
    expect((sent / (sender.nowMs - startedAtMs)) * 1000).toBeGreaterThan(18);
  }
});

test("four strays in a row among the first attempts cost their pause alone", () => {
  for (let at = 0; at < 15; at += 1) {
    let sent = 0;
    const sender = new Sender().send(64, () => (sent++, sent > at && sent <= at + 4));
    expect([at, sender.rate.isLimited]).toEqual([at, false]);
  }
});

test("a rate that others pressed down to one in many seconds is back in minutes", () => {
  for (let seed = 1; seed <= 40; seed += 1) {
    const sender = new Sender();
    const isTaken = strays(0.5, seed);
    while (sender.nowMs < 180_000) sender.send(1, isTaken, 300);
    expect(sender.perSecond).toBeLessThan(0.4);
    const startedAtMs = sender.nowMs;
    while (sender.perSecond < 2) sender.send(1, never, 300);
    expect((sender.nowMs - startedAtMs) / 60_000).toBeLessThan(15);
  }
});

test("an attempt that was sent before the rate fell says nothing about the lower rate", () => {
  const sender = new Sender().send(100, never);
  const { rate } = sender;
  const older = [0, 1, 2, 3, 4, 5, 6, 7].map(() => rate.sent());
  const row = [0, 1, 2, 3].map(() => rate.sent());
  expect(row.map((attempt) => rate.refused(attempt, sender.nowMs)).at(-1)).toBe(true);
  rate.reopened(sender.nowMs, 1000);
  const perSecond = sender.perSecond;
  expect(older.map((attempt) => rate.refused(attempt, sender.nowMs))).not.toContain(true);
  expect(sender.perSecond).toBe(perSecond);
});

test("three quarters of the rate that succeeded follow a pause", () => {
  const sender = new Sender().send(100, never);
  const { rate } = sender;
  for (const attempt of [0, 1, 2, 3].map(() => rate.sent())) rate.refused(attempt, sender.nowMs);
  rate.reopened(sender.nowMs, 1000);
  expect(sender.perSecond).toBeCloseTo(75, 0);
});

test("after a pause in which no other call succeeded, nothing is known of a rate", () => {
  const rate = new RateEstimate();
  for (const attempt of [0, 1, 2, 3].map(() => rate.sent())) rate.refused(attempt, 10);
  rate.succeeded(rate.sent(), 10);
  rate.reopened(10, 60_000);
  expect(rate.isLimited).toBe(false);
});

test("after few successes a first pause sets no rate, and a second one none below one a second", () => {
  const sender = new Sender().send(3, never);
  const { rate } = sender;
  const refuseFour = () => {
    for (const attempt of [0, 1, 2, 3].map(() => rate.sent())) rate.refused(attempt, sender.nowMs);
  };
  refuseFour();
  const late = rate.sent();
  rate.reopened(sender.nowMs, 3_600_000);
  expect(sender.perSecond).toBe(Infinity);
  const next = [0, 1, 2].map(() => rate.sent());
  // What was sent before the pause is in no row with what follows.
  expect([late, ...next].map((attempt) => rate.refused(attempt, sender.nowMs))).not.toContain(true);
  refuseFour();
  rate.reopened(sender.nowMs, 3_600_000);
  expect(sender.perSecond).toBe(1);
});

test("the rate falls no further until an attempt at the lower rate succeeds", () => {
  let isOdd = false;
  const sender = new Sender().send(100, never).send(13, () => (isOdd = !isOdd));
  const { rate, perSecond } = sender;
  expect(perSecond).toBeLessThan(100);
  const attempts = Array.from({ length: 9 }, () => rate.sent());
  for (const at of [0, 1, 2, 4, 5, 6]) rate.refused(attempts[at] as number, sender.nowMs);
  expect(sender.perSecond).toBe(perSecond);
  rate.succeeded(attempts[3] as number, sender.nowMs);
  rate.refused(attempts[8] as number, sender.nowMs);
  expect(sender.perSecond).toBeLessThan(perSecond);
});

test("five refusals in a row ask for a pause if one beside them was refused alone", () => {
  const rate = new RateEstimate();
  const [alone = 0, next = 0, ...row] = Array.from({ length: 11 }, () => rate.sent());
  rate.refused(alone, 0);
  rate.succeeded(next, 0);
  const pauses = row.map((attempt) => rate.refused(attempt, 0));
  expect(pauses.indexOf(true)).toBe(4);
  rate.reopened(0, 1000);
  const later = Array.from({ length: 5 }, () => rate.refused(rate.sent(), 1000));
  expect(later.indexOf(true)).toBe(3);
});

test("counts refusals in a row by number, whatever their order", () => {
  const rate = new RateEstimate();
  const sent = Array.from({ length: 30 }, () => rate.sent());
  const refuse = (...attempts: readonly number[]) =>
    attempts.map((attempt) => rate.refused(sent[attempt] as number, 0));
  expect(refuse(7, 5, 6)).toEqual([false, false, false]);
  rate.succeeded(4, 0);
  expect(refuse(4)).toEqual([true]);
  rate.succeeded(8, 0);
  expect(refuse(12, 9, 11, 10)).toEqual([false, false, false, true]);
  rate.reopened(0, 1000);
  expect(refuse(13, 14, 15)).toEqual([false, false, false]);
});
