import { expect, test } from "vitest";
import { ManualClock } from "../testing/manual-clock.ts";
import { pacedCalls } from "../testing/paced-calls.ts";
import type { Admission } from "./call-queue.ts";
import { createPacer, type Pacer } from "./pacer.ts";

const success = (admission: Admission) => admission.succeeded(1);
const failure = (admission: Admission) => admission.ended();
const limit = (retryAfterMs: number | null) => (admission: Admission) =>
  admission.throttled(retryAfterMs);

test("lets a call go at once", async () => {
  const { ask, admitted, clock, waits } = pacedCalls();
  await ask("a");
  expect(admitted).toEqual(["a"]);
  expect(waits).toEqual({});
  expect(clock.waiting).toBe(0);
});

test("lets four go before the first answer, then one more for each success", async () => {
  const { ask, end, admitted, clock } = pacedCalls();
  for (const name of ["a", "b", "c", "d", "e", "f", "g", "h"]) await ask(name);
  expect(admitted).toEqual(["a", "b", "c", "d"]);
  expect(clock.waiting).toBe(0);
  await end("a", failure);
  expect(admitted.slice(4)).toEqual(["e"]);
  await end("b", success);
  expect(admitted.slice(5)).toEqual(["f", "g"]);
});

test("pauses every call after a throttled one, then one goes first", async () => {
  const { ask, end, admitted, clock } = pacedCalls();
  await ask("a");
  await ask("b");
  await end("a", limit(null));
  for (const name of ["c", "d", "e"]) await ask(name);
  await clock.advance(999);
  expect(admitted).toEqual(["a", "b"]);
  await clock.advance(1);
  expect(admitted).toEqual(["a", "b", "c"]);
  await clock.advance(60_000);
  await end("b", success);
  expect(admitted).toEqual(["a", "b", "c"]);
  await end("c", success);
  await clock.advance(600_000);
  expect(admitted).toEqual(["a", "b", "c", "d", "e"]);
});

test("pauses as long as Retry-After says, later answers included", async () => {
  const { ask, end, admitted, clock } = pacedCalls({}, 0);
  for (const name of ["a", "b"]) await ask(name);
  await clock.advance(100);
  await end("a", limit(3000));
  await ask("c");
  await clock.advance(1000);
  await end("b", limit(5000));
  await clock.advance(4999);
  expect(admitted).toEqual(["a", "b"]);
  await clock.advance(1);
  expect(admitted).toEqual(["a", "b", "c"]);
});

test("pauses longer when the call that goes first is throttled too", async () => {
  const { ask, end, admitted, clock } = pacedCalls();
  await ask("a");
  await end("a", limit(null));
  for (const name of ["b", "c"]) await ask(name);
  await clock.advance(1000);
  await end("b", limit(null));
  await clock.advance(1999);
  expect(admitted).toEqual(["a", "b"]);
  await clock.advance(1);
  expect(admitted).toEqual(["a", "b", "c"]);
});

test("lets the next one try at once when the first ends in any other way", async () => {
  const { ask, end, admitted, clock } = pacedCalls();
  await ask("a");
  await end("a", limit(null));
  for (const name of ["b", "c", "d"]) await ask(name);
  await clock.advance(1000);
  await end("b", failure);
  expect(admitted).toEqual(["a", "b", "c"]);
});

test("makes only a stray throttled call wait, by itself", async () => {
  const { ask, end, admitted, clock } = pacedCalls();
  for (let index = 0; index < 20; index += 1) {
    await ask(`${index}`);
    await end(`${index}`, success);
  }
  const verdicts: string[] = [];
  await ask("stray");
  await end("stray", (admission) => verdicts.push(admission.throttled(5000)));
  await ask("next");
  expect(verdicts).toEqual(["stray"]);
  expect(admitted.slice(20)).toEqual(["stray", "next"]);
  expect(clock.waiting).toBe(0);
});

test("pauses every call when several are throttled together", async () => {
  const { ask, end, admitted } = pacedCalls();
  for (let index = 0; index < 20; index += 1) {
    await ask(`${index}`);
    await end(`${index}`, success);
  }
  const names = ["a", "b", "c"];
  const verdicts: string[] = [];
  for (const name of names) await ask(name);
  for (const name of names) {
    await end(name, (admission) => verdicts.push(admission.throttled(5000)));
  }
  await ask("next");
  expect(verdicts).toEqual(["stray", "stray", "limit"]);
  expect(admitted).not.toContain("next");
});

test("keeps the line in order", async () => {
  const { ask, end, admitted } = pacedCalls();
  for (const name of ["a", "b", "c", "d", "e", "f"])
    await ask(name, { retries: name === "e" ? 2 : 0 });
  await end("d", failure);
  await end("c", failure);
  expect(admitted).toEqual(["a", "b", "c", "d", "e", "f"]);
});

test("keeps the line in order under a known limit too, while nothing is paused", async () => {
  const { ask, admitted, clock } = pacedCalls({ requestsPerMinute: 60 });
  for (const name of ["a", "b", "c"]) await ask(name, { retries: name === "b" ? 2 : 0 });
  await clock.advance(2000);
  expect(admitted).toEqual(["a", "b"]);
});

test("lets the one with the most retries left go first after a pause", async () => {
  const { ask, end, admitted, clock } = pacedCalls();
  await ask("a");
  await end("a", limit(null));
  await ask("twice", { retries: 2 });
  await ask("once", { retries: 1 });
  await ask("once more", { retries: 1 });
  await clock.advance(1000);
  expect(admitted).toEqual(["a", "once"]);
});

test("tells how long a call waits: the pause at least, or null when that depends on others", async () => {
  const { ask, end, waits } = pacedCalls();
  await ask("a");
  await end("a", limit(2000));
  await ask("first");
  await ask("second");
  expect(waits).toEqual({ first: 2200, second: 2200 });
  const full = pacedCalls();
  for (const name of ["a", "b", "c", "d", "e"]) await full.ask(name);
  expect(full.waits).toEqual({ e: null });
});

/** Admits calls until one has to wait. */
function admitAll(pacer: Pacer): Admission[] {
  const admitted: Admission[] = [];
  for (let next = pacer.admitNow(1); next !== null; next = pacer.admitNow(1)) admitted.push(next);
  return admitted;
}

test("grows by one call with each success up to eight, then by one with every fourth", () => {
  const clock = new ManualClock();
  const pacer = createPacer({}, { clock, random: () => 0 });
  const inFlight = admitAll(pacer);
  const counts = [inFlight.length];
  for (let success = 0; success < 12; success += 1) {
    inFlight.shift()?.succeeded(1);
    inFlight.push(...admitAll(pacer));
    counts.push(inFlight.length);
  }
  expect(counts).toEqual([4, 5, 6, 7, 8, 9, 9, 9, 9, 10, 10, 10, 10]);
});

test.each([
  [{}, false],
  [{ requestsPerMinute: 60 }, false],
  [{ tokensPerSecond: 100 }, true],
])("with the limits %j tokens count: %j", (limits, counts) => {
  expect(createPacer(limits).countsTokens).toBe(counts);
});

test("a call that ends without an answer holds nobody back while nothing is paused", () => {
  const clock = new ManualClock();
  const pacer = createPacer({ requestsPerMinute: 600_000 }, { clock, random: () => 0 });
  pacer.admitNow(1)?.ended();
  expect([pacer.admitNow(1), pacer.admitNow(1)]).not.toContain(null);
});

test("only the next in line learns how long its turn under a limit takes", async () => {
  const { ask, waits } = pacedCalls({ requestsPerMinute: 60 });
  for (const name of ["a", "next", "later"]) await ask(name);
  expect(waits).toEqual({ next: expect.closeTo(1000 / 0.95, 0), later: null });
});

/** Returns a pacer with a known limit, for which as many calls have got their answers. */
function pacerAfter(successes: number): Pacer {
  const limits = { requestsPerMinute: 600_000 };
  const pacer = createPacer(limits, { clock: new ManualClock(), random: () => 0 });
  for (let success = 0; success < successes; success += 1) pacer.admitNow(1)?.succeeded(1);
  return pacer;
}

test("under a known limit too, one throttled answer after many others shows none", () => {
  expect(pacerAfter(0).admitNow(1)?.throttled(null)).toBe("limit");
  expect(pacerAfter(20).admitNow(1)?.throttled(null)).toBe("stray");
});

test("a throttled answer to a call from before a pause that is over says nothing new", async () => {
  const clock = new ManualClock();
  const pacer = createPacer({}, { clock, random: () => 0 });
  const [older, throttled] = [pacer.admitNow(1), pacer.admitNow(1)];
  await clock.advance(1);
  expect(throttled?.throttled(100)).toBe("limit");
  await clock.advance(100);
  pacer.admitNow(1)?.succeeded(1);
  expect(older?.throttled(null)).toBe("stray");
  await clock.advance(1000);
  expect(pacer.admitNow(1)).not.toBeNull();
});
