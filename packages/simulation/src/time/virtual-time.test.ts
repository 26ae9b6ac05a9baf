import { expect, test } from "vitest";
import { ProcessClock } from "./process-clock.ts";
import { Random } from "./random.ts";
import { VirtualTime } from "./virtual-time.ts";

/** Plays until no timer is left; returns what `noted` was called with, and when. */
async function play(begin: (time: VirtualTime, note: (what: string) => void) => unknown) {
  const time = new VirtualTime();
  const noted: [what: string, atMs: number][] = [];
  begin(time, (what) => noted.push([what, time.nowMs]));
  await time.run(() => false);
  return noted;
}

test("timers fire in the order of their times, then of their scheduling, unless cancelled", async () => {
  const noted = await play((time, note) => {
    for (const delayMs of [30, 10, 20, 10]) time.schedule(delayMs, () => note(`${delayMs}`));
    time.schedule(15, () => note("never"))();
  });
  expect(noted).toEqual([
    ["10", 10],
    ["10", 10],
    ["20", 20],
    ["30", 30],
  ]);
});

test("time stands still until all promises have settled, and operations outside", async () => {
  const noted = await play((time, note) => {
    time.schedule(10, async () => {
      for (let at = 0; at < 1000; at += 1) await Promise.resolve();
      note("settled");
      const digest = await time.outside(crypto.subtle.digest("SHA-256", new Uint8Array(1e6)));
      note(`digest of ${digest.byteLength}`);
    });
    time.schedule(11, () => note("later"));
  });
  expect(noted).toEqual([
    ["settled", 10],
    ["digest of 32", 10],
    ["later", 11],
  ]);
});

test("an error of a timer ends the simulation", async () => {
  const time = new VirtualTime();
  time.schedule(1, () => {
    throw new Error("Broken.");
  });
  await expect(time.run(() => false)).rejects.toThrow("Broken.");
});

test("what reaches a frozen process comes afterwards, in order", async () => {
  const noted = await play((time, note) => {
    const process = new ProcessClock(time);
    for (const delayMs of [5, 15, 12]) process.schedule(delayMs, () => note(`${delayMs}`));
    process.schedule(13, () => note("never"))();
    time.schedule(10, () => process.freeze(90));
  });
  expect(noted).toEqual([
    ["5", 5],
    ["12", 100],
    ["15", 100],
  ]);
});

test("each event of a slow process takes its time", async () => {
  const noted = await play((time, note) => {
    const process = new ProcessClock(time);
    process.slow(100, 20);
    for (const delayMs of [1, 2, 3, 200]) process.schedule(delayMs, () => note(`${delayMs}`));
  });
  expect(noted).toEqual([
    ["1", 1],
    ["2", 21],
    ["3", 41],
    ["200", 200],
  ]);
});

test("nothing reaches a dead process, and a clock step moves only the date", async () => {
  let epochMs = 0;
  const noted = await play((time, note) => {
    const process = new ProcessClock(time);
    process.schedule(5, () => {
      process.offMs -= 3_600_000;
      epochMs = process.epochNow();
      note(`${process.now()}`);
    });
    process.schedule(20, () => note("never"));
    time.schedule(10, () => process.kill());
  });
  expect(noted).toEqual([["5", 5]]);
  expect(new Date(epochMs).toISOString()).toBe("2026-11-20T23:00:00.005Z");
});

test("each concern of a seed draws its own numbers, the same each time", () => {
  const draw = (concern: string) => {
    const random = new Random(7, concern);
    return [random.whole(1, 6), random.between(0, 1), random.magnitude(1, 1000), random.next()];
  };
  expect(draw("disk")).toEqual(draw("disk"));
  expect(draw("disk")).not.toEqual(draw("service"));
  expect(draw("disk")[0]).toBeOneOf([1, 2, 3, 4, 5, 6]);
});
