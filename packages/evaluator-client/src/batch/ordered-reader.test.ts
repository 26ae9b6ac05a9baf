import { getEventListeners } from "node:events";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { untilAborted } from "../clock.ts";

test("settles as the promise does and leaves no listener", async () => {
  const { signal } = new AbortController();
  expect(await untilAborted(Promise.resolve("done"), signal)).toBe("done");
  const broken = new Error("broken");
  await expect(untilAborted(Promise.reject(broken), signal)).rejects.toBe(broken);
  await setImmediate();
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("rejects with the signal's reason once it aborts", async () => {
  const controller = new AbortController();
  const outcome = untilAborted(new Promise(() => undefined), controller.signal);
  controller.abort("enough");
  await expect(outcome).rejects.toBe("enough");
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
});
