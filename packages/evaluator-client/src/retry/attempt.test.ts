import { expect, test } from "vitest";
import { ManualClock } from "../testing/manual-clock.ts";
import { Attempt } from "./attempt.ts";

test("aborts its signal and tells its listeners why", () => {
  const attempt = new Attempt(new ManualClock());
  const told: unknown[] = [];
  const { signal } = attempt;
  attempt.onAbort((reason) => told.push(reason));
  expect(signal.aborted).toBe(false);
  expect(told).toEqual([]);
  attempt.abort("enough");
  expect(signal.reason).toBe("enough");
  expect(told).toEqual(["enough"]);
});

test("always gives the same signal", () => {
  const attempt = new Attempt(new ManualClock());
  expect(attempt.signal).toBe(attempt.signal);
});

test("tells those who ask after the abort at once", () => {
  const attempt = new Attempt(new ManualClock());
  attempt.abort(undefined);
  const told: unknown[] = [];
  attempt.onAbort((reason) => told.push(reason));
  expect(told).toEqual([undefined]);
  expect(attempt.signal.aborted).toBe(true);
});
