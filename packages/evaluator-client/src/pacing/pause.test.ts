import { expect, test } from "vitest";
import { Pause, RefusalRow } from "./pause.ts";

const refusal = { retryAfterMs: 2000, random: 0, cause: null };

test("lasts as long as it was announced, not until the probe", () => {
  const pause = new Pause();
  pause.begin({ ...refusal, nowMs: 100 });
  expect([pause.leftMs(600), pause.pass()]).toEqual([1500, true]);
  expect([pause.delayMs(3_600_000), pause.isOpen]).toEqual([Number.POSITIVE_INFINITY, false]);
  expect([pause.end(), pause.isOpen, pause.leftMs(200)]).toEqual([2000, true, 0]);
});

test("has no end for an impatient call once its probe was refused", () => {
  const pause = new Pause();
  pause.begin({ ...refusal, nowMs: 0 });
  expect(pause.endsAtMs(500)).toBe(2000);
  expect(pause.endsAtMs(2500)).toBe(2500);
  pause.pass();
  pause.begin({ ...refusal, nowMs: 3000 });
  expect(pause.endsAtMs(3000)).toBe(Number.POSITIVE_INFINITY);
});

test("counts refusals in a row by number, whatever their order", () => {
  const row = new RefusalRow();
  expect([7, 5, 9, 6].map((attempt) => row.add(attempt))).toEqual([1, 1, 1, 3]);
  row.succeeded(4);
  expect(row.add(4)).toBe(4);
  row.succeeded(8);
  expect(row.add(10)).toBe(2);
  row.clear();
  expect(row.add(11)).toBe(1);
});
