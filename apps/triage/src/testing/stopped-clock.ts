import type { Clock } from "evaluator-cli-kit";

/** A clock that stands still: nothing scheduled on it ever comes. */
export const stoppedClock: Clock = {
  now: () => 0,
  today: () => new Date("2026-11-21T12:00:00Z"),
  schedule: () => () => {},
};
