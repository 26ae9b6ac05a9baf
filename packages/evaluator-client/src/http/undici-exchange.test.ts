import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import type { Abortable } from "./http-client.ts";
import { UndiciExchange } from "./undici-exchange.ts";
import { WholeResponse } from "./whole-response.ts";

/** An exchange that undici has begun, and the aborts that undici gets. */
function exchangeWith(abortable: Abortable) {
  const endpoint = { method: "POST", url: "http://localhost/", headers: {} } as const;
  const http1 = { path: "/", method: "POST" } as const;
  const request = { endpoint, hint: "", http1, http2Headers: {} };
  const receiver = new WholeResponse(request);
  const exchange = new UndiciExchange(request, "{}", { abortable, receiver });
  const aborts: unknown[] = [];
  const ignore = () => undefined;
  const abort = (reason: unknown) => aborts.push(reason);
  exchange.onRequestStart({ abort, pause: ignore, resume: ignore });
  return { exchange, response: receiver.response, aborts };
}

test("listens to a signal once, and leaves no listener", async () => {
  const controller = new AbortController();
  const { response, aborts } = exchangeWith(controller);
  expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
  controller.abort("enough");
  await expect(response).rejects.toBe("enough");
  expect(aborts).toHaveLength(1);
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
});

test("is not aborted after its response", async () => {
  const controller = new AbortController();
  const { exchange, response, aborts } = exchangeWith(controller);
  exchange.onResponseStart(null, 200, {});
  exchange.onResponseEnd();
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  controller.abort("enough");
  expect(await response).toEqual({ status: 200, headers: {}, text: "" });
  expect(aborts).toEqual([]);
});

test("is over at once for a signal that has aborted", async () => {
  const { exchange, response, aborts } = exchangeWith({ signal: AbortSignal.abort("enough") });
  await expect(response).rejects.toBe("enough");
  expect([exchange.isOver, aborts.length]).toEqual([true, 1]);
});

test("was not sent if no server has processed it, and costs nothing", async () => {
  const abortable: Abortable = { signal: new AbortController().signal };
  const { exchange, response } = exchangeWith(abortable);
  expect(abortable.wasSent).toBe(true);
  exchange.onUnprocessed();
  expect(abortable.wasSent).toBe(false);
  exchange.onResponseError(null, new Error("The next connection fails."));
  await expect(response).rejects.toMatchObject({ maybeBilled: false });
});

test("makes no signal where there is a cheaper way to listen", async () => {
  const listeners: ((reason: unknown) => void)[] = [];
  const { response } = exchangeWith({
    get signal(): AbortSignal {
      throw new Error("Nobody needs it.");
    },
    onAbort: (listener: (reason: unknown) => void) => listeners.push(listener),
  });
  listeners[0]?.("enough");
  await expect(response).rejects.toBe("enough");
});

test.each(["onConnect", "onError"] as const)("rejects undici 6 at its %s", async (event) => {
  const { exchange, response } = exchangeWith(new AbortController());
  exchange[event]();
  await expect(response).rejects.toMatchObject({
    name: "ConfigurationError",
    option: "dispatcher",
  });
});

test("an interceptor of undici 6 sends nothing", () => {
  const { exchange, response } = exchangeWith(new AbortController());
  response.catch(() => {});
  let aborted: Error | null = null;
  exchange.onConnect((error) => (aborted = error));
  expect(aborted).toMatchObject({ name: "ConfigurationError" });
});
