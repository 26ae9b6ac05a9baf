import { expect, test } from "vitest";
import { pacedCalls } from "../testing/paced-calls.ts";
import type { Admission } from "./call-queue.ts";
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

test.each(["in flight", "throttled"])(
  "spaces calls further apart after a throttled answer, with an older call %s",
  async (older) => {
    const { ask, end, admitted, clock } = await callsAtKnownRate();
    for (const name of ["older", "b", "c"]) await ask(name);
    await clock.advance(346);
    await end("b", success);
    await end("c", (admission) => admission.throttled(0));
    await ask("first");
    await end("first", success);
    await clock.advance(2000);
    if (older === "throttled") await end("older", (admission) => admission.throttled(0));
    admitted.length = 0;
    for (const name of ["d", "e"]) await ask(name);
    await clock.advance(220);
    expect(admitted).toEqual(["d"]);
    await clock.advance(2);
    expect(admitted).toEqual(["d", "e"]);
  },
);

test("needs nobody to be told of a wait", async () => {
  const { clock } = pacedCalls();
  const pacer = createPacer({ requestsPerMinute: 60 }, { clock });
  const call = { tokens: 1, retries: 0, deadlineAtMs: Infinity, deadlineMs: Infinity };
  await pacer.admit(call);
  const second = pacer.admit(call);
  await clock.advance(2000);
  await expect(second).resolves.toHaveProperty("ended");
});
