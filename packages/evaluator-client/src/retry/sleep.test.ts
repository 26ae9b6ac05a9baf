import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { ManualClock } from "../testing/manual-clock.ts";
import { sleep } from "./sleep.ts";

test("ends after the delay and leaves no listener", async () => {
  const clock = new ManualClock();
  const { signal } = new AbortController();
  const ended: number[] = [];
  const slept = sleep(500, { clock, signal }).then(() => ended.push(clock.now()));
  await clock.advance(499);
  expect(ended).toEqual([]);
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  await clock.advance(1);
  await slept;
  expect(ended).toEqual([500]);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("ends after the delay without a signal", async () => {
  const clock = new ManualClock();
  const slept = sleep(500, { clock });
  await clock.advance(500);
  await expect(slept).resolves.toBeUndefined();
});

test("rejects with the signal's reason at once, and leaves neither timer nor listener", async () => {
  const clock = new ManualClock();
  const controller = new AbortController();
  const { signal } = controller;
  const slept = sleep(500, { clock, signal });
  controller.abort("enough");
  await expect(slept).rejects.toBe("enough");
  expect(clock.waiting).toBe(0);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("does not begin when the signal has aborted", async () => {
  const clock = new ManualClock();
  const signal = AbortSignal.abort("enough");
  await expect(sleep(500, { clock, signal })).rejects.toBe("enough");
  expect(clock.waiting).toBe(0);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});
