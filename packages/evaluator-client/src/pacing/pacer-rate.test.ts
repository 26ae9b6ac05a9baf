import { expect, test } from "vitest";
import { pacedCalls } from "../testing/paced-calls.ts";
import type { Admission, PacedCall } from "./call-queue.ts";
import { createPacer } from "./pacer.ts";

const success = (admission: Admission) => admission.succeeded(1);

/** Calls at a pacer that has found 10 requests in 1,727 ms, so one in 172.7 ms, at time 2,000. */
async function callsAtKnownRate({ idleMs = 0 } = {}) {
  const calls = pacedCalls({}, 0);
  const { ask, end, clock } = calls;
  for (let index = 0; index < 10; index += 1) {
    if (index === 5) await clock.advance(idleMs);
    await ask(`${index}`);
    await clock.advance(100);
    await end(`${index}`, success);
  }
  for (const name of ["x", "y", "z"]) await ask(name);
  for (const name of ["x", "y", "z"]) await end(name, (admission) => admission.throttled(1000));
  await ask("first");
  await clock.advance(1000);
  await end("first", success);
  calls.admitted.length = 0;
  return calls;
}

test("spaces calls at the rate that went through before the pause", async () => {
  const { ask, admitted, clock } = await callsAtKnownRate();
  for (const name of ["a", "b", "c"]) await ask(name);
  expect(admitted).toEqual(["a"]);
  await clock.advance(172);
  expect(admitted).toEqual(["a"]);
  await clock.advance(1);
  expect(admitted).toEqual(["a", "b"]);
  await clock.advance(172);
  expect(admitted).toEqual(["a", "b"]);
  await clock.advance(1);
  expect(admitted).toEqual(["a", "b", "c"]);
});

test("takes a time in which nobody asked for none", async () => {
  const { ask, admitted, clock } = await callsAtKnownRate({ idleMs: 60_000 });
  for (const name of ["a", "b"]) await ask(name);
  await clock.advance(172);
  expect(admitted).toEqual(["a"]);
  await clock.advance(1);
  expect(admitted).toEqual(["a", "b"]);
});

test("saves nothing up while idle", async () => {
  const { ask, admitted, clock } = await callsAtKnownRate();
  await clock.advance(60_000);
  for (const name of ["a", "b"]) await ask(name);
  await clock.advance(172);
  expect(admitted).toEqual(["a"]);
  await clock.advance(1);
  expect(admitted).toEqual(["a", "b"]);
});

test.each<[inPause: string[], afterIt: string[]]>([
  [[], []],
  [["oldest", "older"], []],
  [[], ["oldest", "older"]],
])(
  "spaces calls further apart once, with %j throttled too in the pause and %j after it",
  async (inPause, afterIt) => {
    const { ask, end, admitted, clock } = await callsAtKnownRate();
    for (const name of ["oldest", "older", "b", "c"]) await ask(name);
    await clock.advance(519);
    await end("b", success);
    for (const name of ["c", ...inPause]) await end(name, (call) => call.throttled(0));
    await ask("first");
    await end("first", success);
    await clock.advance(2000);
    for (const name of afterIt) await end(name, (call) => call.throttled(0));
    admitted.length = 0;
    for (const name of ["d", "e"]) await ask(name);
    await clock.advance(220);
    expect(admitted).toEqual(["d"]);
    await clock.advance(2);
    expect(admitted).toEqual(["d", "e"]);
  },
);

/**
 * Calls at a pacer that has found one request in 126 ms, held that, and now tries one in 109 ms, after
 * an idle minute.
 */
async function callsAtTriedRate() {
  const calls = pacedCalls({}, 0);
  const { ask, end, clock } = calls;
  const succeed = async (times: number, afterMs: number) => {
    for (let time = 0; time < times; time += 1) {
      const name = `success at ${clock.now()}`;
      await ask(name);
      await clock.advance(afterMs);
      await end(name, success);
    }
  };
  const verdictOf = async (name: string, retryAfterMs: number | null) => {
    const verdicts: string[] = [];
    await end(name, (admission) => verdicts.push(admission.throttled(retryAfterMs)));
    return verdicts[0];
  };
  await succeed(30, 100);
  for (const name of ["x", "y", "z"]) await ask(name);
  for (const name of ["x", "y", "z"]) await end(name, (admission) => admission.throttled(1000));
  await succeed(1, 1000);
  await clock.advance(60_000);
  await succeed(60, 150);
  return { ...calls, verdictOf };
}

test.each([
  [null, "stray"],
  [2000, "stray"],
  [2001, "limit"],
])(
  "at a rate that is tried, a throttled answer that asks for %s ms shows a %s",
  async (retryAfterMs, verdict) => {
    const { ask, verdictOf } = await callsAtTriedRate();
    await ask("a");
    expect(await verdictOf("a", retryAfterMs)).toBe(verdict);
  },
);

test("a rate that was tried falls with its first throttled answer, and what was sent before is no news", async () => {
  const { ask, admitted, clock, verdictOf } = await callsAtTriedRate();
  for (const name of ["a", "b"]) {
    await ask(name);
    await clock.advance(100);
  }
  admitted.length = 0;
  expect([await verdictOf("a", null), await verdictOf("b", null)]).toEqual(["stray", "stray"]);
  for (const name of ["c", "d"]) await ask(name);
  await clock.advance(20 + 155);
  expect(admitted).toEqual(["c"]);
  await clock.advance(1);
  expect(admitted).toEqual(["c", "d"]);
  expect(await verdictOf("c", null)).toBe("limit");
});

test.each<[string, Partial<PacedCall>]>([
  ["whose deadline the pause passes", { deadlineAtMs: 60_000, deadlineMs: 60_000 }],
  ["whose deadline passes as it waits", { deadlineAtMs: 101_000, deadlineMs: 101_000 }],
  ["that is aborted as it waits", {}],
])("a call %s wants nothing sent any more", async (_, changes) => {
  const { ask, end, admitted, rejected, clock } = pacedCalls({}, 0);
  for (const name of ["a", "b", "c", "d"]) await ask(name);
  await clock.advance(1000);
  for (const name of ["a", "b"]) await end(name, success);
  for (const name of ["c", "d"]) await end(name, (admission) => admission.throttled(102_000));
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
