import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { whenAborted } from "./http-client.ts";

test("listens to a signal once, and leaves no listener", () => {
  const controller = new AbortController();
  const reasons: unknown[] = [];
  whenAborted(controller, (reason) => reasons.push(reason));
  controller.abort("enough");
  expect(reasons).toEqual(["enough"]);
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
});

test("is not called after it stopped listening", () => {
  const controller = new AbortController();
  const reasons: unknown[] = [];
  whenAborted(controller, (reason) => reasons.push(reason))?.();
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  controller.abort("enough");
  expect(reasons).toEqual([]);
});

test("is called at once for a signal that has aborted", () => {
  const reasons: unknown[] = [];
  whenAborted({ signal: AbortSignal.abort("enough") }, (reason) => reasons.push(reason));
  expect(reasons).toEqual(["enough"]);
});

test("makes no signal where there is a cheaper way to listen", () => {
  const listeners: ((reason: unknown) => void)[] = [];
  const abortable = {
    get signal(): AbortSignal {
      throw new Error("Nobody needs it.");
    },
    onAbort: (listener: (reason: unknown) => void) => listeners.push(listener),
  };
  const reasons: unknown[] = [];
  const stop = whenAborted(abortable, (reason) => reasons.push(reason));
  listeners[0]?.("enough");
  stop?.();
  expect(reasons).toEqual(["enough"]);
});
