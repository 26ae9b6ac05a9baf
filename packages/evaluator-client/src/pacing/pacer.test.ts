import { expect, test } from "vitest";
import { ManualClock } from "../testing/manual-clock.ts";
import { pacedCalls } from "../testing/paced-calls.ts";
import type { Admission } from "./call-queue.ts";
import { createPacer } from "./pacer.ts";

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

test("holds nothing back before the first refusal", async () => {
  const { ask, admitted, clock } = pacedCalls();
  for (let call = 0; call < 256; call += 1) await ask(`${call}`);
  expect(admitted).toHaveLength(256);
  expect(clock.waiting).toBe(0);
});

test("pauses every call after four refusals in a row, then one is the probe", async () => {
  const { ask, end, admitted, clock, pause } = pacedCalls();
  await pause(null);
  for (const name of ["c", "d", "e"]) await ask(name);
  await clock.advance(999);
  expect(admitted).toEqual([]);
  await clock.advance(1);
  expect(admitted).toEqual(["c"]);
  await clock.advance(60_000);
  expect(admitted).toEqual(["c"]);
  await end("c", success);
  await clock.advance(600_000);
  expect(admitted).toEqual(["c", "d", "e"]);
});

test("an answer to a call from before the pause does not end it", async () => {
  const { ask, end, admitted, clock, pause } = pacedCalls();
  await ask("older");
  await pause(null);
  await ask("c");
  await end("older", success);
  await clock.advance(999);
  expect(admitted).toEqual([]);
});

test("pauses as long as Retry-After says, later answers included", async () => {
  const { ask, end, admitted, clock, pause } = pacedCalls({}, 0);
  await ask("older");
  await clock.advance(100);
  await pause(3000);
  await ask("c");
  await clock.advance(1000);
  await end("older", limit(5000));
  await clock.advance(4999);
  expect(admitted).toEqual([]);
  await clock.advance(1);
  expect(admitted).toEqual(["c"]);
});

test("pauses longer when the probe is refused too", async () => {
  const { ask, end, admitted, clock, pause } = pacedCalls();
  await pause(null);
  for (const name of ["b", "c"]) await ask(name);
  await clock.advance(1000);
  await end("b", limit(null));
  await clock.advance(1999);
  expect(admitted).toEqual(["b"]);
  await clock.advance(1);
  expect(admitted).toEqual(["b", "c"]);
});

test("the next call is the probe at once when the first ends in any other way", async () => {
  const { ask, end, admitted, clock, pause } = pacedCalls();
  await pause(null);
  for (const name of ["b", "c", "d"]) await ask(name);
  await clock.advance(1000);
  await end("b", failure);
  expect(admitted).toEqual(["b", "c"]);
});

test("counts refusals in a row by the order of sending, not of the answers", async () => {
  const { ask, end, admitted } = pacedCalls();
  for (const name of ["a", "b", "c", "slow", "d", "next"]) await ask(name);
  const verdicts: string[] = [];
  const refuse = (name: string) =>
    end(name, (admission) => verdicts.push(admission.throttled(5000)));
  for (const name of ["a", "b", "c", "d"]) await refuse(name);
  expect(verdicts).toEqual(["stray", "stray", "stray", "stray"]);
  await end("slow", success);
  await refuse("next");
  expect(verdicts).toEqual(["stray", "stray", "stray", "stray", "stray"]);
  await ask("free");
  expect(admitted).toContain("free");
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
  const { ask, admitted, clock, pause } = pacedCalls();
  await pause(null);
  await ask("twice", { retries: 2 });
  await ask("once", { retries: 1 });
  await ask("once more", { retries: 1 });
  await clock.advance(1000);
  expect(admitted).toEqual(["once"]);
});

test("tells how long a call waits: the pause at least", async () => {
  const { ask, waits, pause } = pacedCalls();
  await pause(2000);
  await ask("first");
  await ask("second");
  expect(waits).toEqual({ first: 2200, second: 2200 });
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

test("under a known limit too, one refusal shows none, and four in a row show one", () => {
  const limits = { requestsPerMinute: 600_000 };
  const pacer = createPacer(limits, { clock: new ManualClock(), random: () => 0 });
  const verdicts = [1, 2, 3, 4].map(() => pacer.admitNow(1)?.throttled(null));
  expect(verdicts).toEqual(["stray", "stray", "stray", "limit"]);
});

test("a late refusal of a call from before a pause that is over says nothing new", async () => {
  const { ask, end, clock, admitted, pause } = pacedCalls({}, 0);
  await ask("older");
  await pause(100);
  await ask("probe");
  await clock.advance(100);
  await end("probe", success);
  await end("older", (admission) => expect(admission.throttled(5000)).toBe("stray"));
  await ask("next");
  await clock.advance(200);
  expect(admitted).toContain("next");
});
