import { expect, test } from "vitest";
import { charged, reservedNano, toRoom, stateAt, toNano } from "./budget-state.ts";

const leaseMs = 60_000;
const key = { budget: "team", usdPerDay: 1, usdPerMonth: 20 };
const state = { day: "2026-11-24", dayNano: 300, monthNano: 5000, requests: 7, held: [] };
const held = { id: "a", nano: 100, known: 40, paid: 0, renewedMs: 1000, leaseMs };

test.each([
  ["2026-11-24", { dayNano: 300, monthNano: 5000, requests: 7 }],
  ["2026-11-25", { dayNano: 0, monthNano: 5000, requests: 7 }],
  ["2026-12-01", { dayNano: 0, monthNano: 0, requests: 0 }],
  ["2026-11-23", { dayNano: 300, monthNano: 5000, requests: 7 }],
])("on %s the state is %o", (today, expected) => {
  expect(stateAt(state, today, 0)).toMatchObject(expected);
});

test("a lease is charged with its unpaid known part once nothing has renewed it", () => {
  const before = { ...state, held: [held, { ...held, id: "b", paid: 15 }] };
  expect(stateAt(before, state.day, 60_999)).toEqual(before);
  const after = stateAt(before, state.day, 61_000);
  expect(after).toEqual({ ...state, dayNano: 300 + 65, monthNano: 5000 + 65 });
});

test("a lease from before the machine's start has ended", () => {
  const before = { ...state, held: [{ ...held, renewedMs: 5_000_000 }] };
  expect(stateAt(before, state.day, 1000).held).toEqual([]);
});

test("a charge counts for the day and the month, and gives nothing back", () => {
  expect(charged(state, 10)).toMatchObject({ dayNano: 310, monthNano: 5010 });
  expect(charged(state, -10)).toEqual(state);
});

test("what a lease has paid is not reserved a second time", () => {
  expect(reservedNano({ ...state, held: [held, { ...held, paid: 30 }] })).toBe(170);
  expect(reservedNano({ ...state, held: [{ ...held, paid: 130 }] })).toBe(0);
});

test("the room is that of the narrower limit, less what is spent and reserved", () => {
  const ofDay = toRoom(key, { ...state, held: [held] });
  expect(ofDay).toEqual({ nano: 1e9 - 400, resetAtMs: Date.UTC(2026, 10, 25), isNear: false });
  const ofMonth = toRoom(key, { ...state, monthNano: 19.5e9 });
  expect(ofMonth).toEqual({ nano: 0.5e9, resetAtMs: Date.UTC(2026, 11, 1), isNear: true });
});

test.each([
  [1, 1e9],
  [0.1 + 0.2, 3e8],
  [1.2e-9, 2],
  [0, 0],
])("%d US dollars are %d nano dollars, rounded up", (usd, nano) => {
  expect(toNano(usd)).toBe(nano);
});
