import type { Clock } from "evaluator-kit";
import { RunTotals, showProgress } from "../testing/index.ts";
import { expect, test } from "vitest";
import { stoppedClock } from "../testing/tickets/start-tickets.ts";

function watched(isTTY: boolean, columns?: number) {
  let nowMs = 0;
  let waiting: { atMs: number; callback: () => void } | null = null;
  const clock: Clock = {
    ...stoppedClock,
    now: () => nowMs,
    schedule(delayMs, callback) {
      waiting = { atMs: nowMs + delayMs, callback };
      return () => {
        waiting = null;
      };
    },
  };
  const totals = new RunTotals({ inputUsdPerMillionTokens: 0.042, source: "here" });
  const written: string[] = [];
  const stderr = {
    isTTY,
    ...(columns && { columns }),
    write: (text: string) => written.push(text),
  };
  const hide = showProgress(1000, totals, { clock, stderr, source: { word: "ticket" } });
  const pass = (milliseconds: number) => {
    const endMs = nowMs + milliseconds;
    for (let next = waiting; next !== null && next.atMs <= endMs; next = waiting) {
      nowMs = next.atMs;
      next.callback();
    }
    nowMs = endMs;
  };
  return { totals, written, hide, pass };
}

test("a log gets a plain line every ten seconds", () => {
  const { totals, written, hide, pass } = watched(false);
  Object.assign(totals, { succeeded: 40, failed: 2, costUsd: 0.0012 });
  pass(9999);
  expect(written).toEqual([]);
  pass(10_001);
  hide();
  expect(written).toEqual([
    "42 of 1,000 tickets (4 %) · 4.2 a second · 4 min left · $0.0012 · 2 failed\n",
    "42 of 1,000 tickets (4 %) · 2.1 a second · 8 min left · $0.0012 · 2 failed\n",
  ]);
});

test("a terminal's line is drawn over, and gone at the end", () => {
  const { written, hide, pass } = watched(true);
  pass(999);
  expect(written).toEqual([]);
  pass(1);
  hide();
  pass(10_000);
  expect(written).toEqual([
    "\r\u001b[K0 of 1,000 tickets (0 %) · 0.0 a second · no answer yet · $0.00 · 0 failed",
    "\r\u001b[K",
  ]);
});

test("on a narrow terminal the line does not wrap", () => {
  const { written, pass } = watched(true, 30);
  pass(1000);
  expect(written).toEqual(["\r\u001b[K0 of 1,000 tickets (0 %) · 0…"]);
});

test("the newest failure is named, so that a service that is away is seen at once", () => {
  const { totals, written, hide, pass } = watched(false);
  totals.add({ error: "Could not connect: refused." });
  pass(10_000);
  hide();
  expect(written).toEqual([
    "1 of 1,000 tickets (0 %) · 0.1 a second · 2.8 h left · $0.00 · 1 failed: Could not connect: refused.\n",
  ]);
});
