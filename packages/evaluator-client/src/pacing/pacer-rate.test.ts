import { expect, test } from "vitest";
import { pacedCalls } from "../testing/paced-calls.ts";
import type { Admission, PacedCall } from "./call-queue.ts";
import { createPacer } from "./pacer.ts";

const success = (admission: Admission) => admission.succeeded(1);

/** Calls at a pacer that has seen 20 answers, one in 100 ms, and then a pause: one call in 133.3 ms goes. */
async function callsAtKnownRate({ idleMs = 0 } = {}) {
  const calls = pacedCalls({}, 0);
  const { ask, end, clock, pause } = calls;
  for (let index = 0; index < 21; index += 1) {
    if (index === 5) await clock.advance(idleMs);
    await ask(`${index}`);
    await clock.advance(100);
    await end(`${index}`, success);
  }
  await pause(1000);
  await ask("probe");
  await clock.advance(1000);
  await end("probe", success);
  calls.admitted.length = 0;
  return calls;
}

test("goes on after a pause at three quarters of the rate that succeeded", async () => {
  const { ask, admitted, clock } = await callsAtKnownRate();
  for (const name of ["a", "b", "c"]) await ask(name);
  expect(admitted).toEqual(["a"]);
  await clock.advance(125);
  expect(admitted).toEqual(["a"]);
  await clock.advance(15);
  expect(admitted).toEqual(["a", "b"]);
  await clock.advance(125);
  expect(admitted).toEqual(["a", "b", "c"]);
});

test("an idle time does not lower the rate", async () => {
  const { ask, admitted, clock } = await callsAtKnownRate({ idleMs: 60_000 });
  for (const name of ["a", "b"]) await ask(name);
  await clock.advance(125);
  expect(admitted).toEqual(["a"]);
  await clock.advance(15);
  expect(admitted).toEqual(["a", "b"]);
});

test("saves nothing up while idle", async () => {
  const { ask, admitted, clock } = await callsAtKnownRate();
  await clock.advance(60_000);
  for (const name of ["a", "b"]) await ask(name);
  await clock.advance(125);
  expect(admitted).toEqual(["a"]);
  await clock.advance(15);
  expect(admitted).toEqual(["a", "b"]);
});

test.each<[string, Partial<PacedCall>]>([
  ["whose deadline the pause passes", { deadlineAtMs: 60_000, deadlineMs: 60_000 }],
  ["whose deadline passes as it waits", { deadlineAtMs: 101_000, deadlineMs: 101_000 }],
  ["that is aborted as it waits", {}],
])("a call %s wants nothing sent any more", async (_, changes) => {
  const { ask, end, admitted, rejected, clock, pause } = pacedCalls({}, 0);
  for (const name of ["a", "b"]) await ask(name);
  await clock.advance(1000);
  for (const name of ["a", "b"]) await end(name, success);
  await pause(102_000);
  const controller = new AbortController();
  await ask("quits", { signal: controller.signal, ...changes });
  if (changes.deadlineMs === undefined) controller.abort("enough");
  await clock.advance(3_600_000);
  expect(Object.keys(rejected)).toEqual(["quits"]);
  admitted.length = 0;
  for (const name of ["first", "d", "e"]) {
    await ask(name);
    await clock.advance(1000);
    await end(name, success);
  }
  expect(admitted).toEqual(["first", "d", "e"]);
});

test("needs no listener for a wait", async () => {
  const { clock } = pacedCalls();
  const pacer = createPacer({ requestsPerMinute: 60 }, { clock });
  const call = { tokens: 1, retries: 0, deadlineAtMs: Infinity, deadlineMs: Infinity };
  await pacer.admit(call);
  const second = pacer.admit(call);
  await clock.advance(2000);
  (await second).throttled(1000);
  const third = pacer.admit(call);
  await clock.advance(60_000);
  await expect(third).resolves.toHaveProperty("ended");
});
