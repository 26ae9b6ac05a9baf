import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import type { Clock } from "../clock.ts";
import { type LimitStore, memoryLimits } from "./limit-store.ts";
import { type LimitsPort, portLimits, shareLimits } from "./thread-limits.ts";

const limits = { requestsPerMinute: 600 };
const ask = { key: "team-a", requests: 1, tokens: 0, limits };
const stopped: Clock = { now: () => 0, epochNow: () => 0, schedule: () => () => undefined };

function portTo(store: LimitStore) {
  const port = shareLimits(store);
  onTestFinished(() => port.close());
  return portLimits(port);
}

test("leases of all threads come one after the other, and count each other", async () => {
  const store = memoryLimits({ clock: stopped });
  const [one, other] = [portTo(store), portTo(store)];
  const leases = [
    await store.lease({ ...ask, member: "main" }),
    await one.lease({ ...ask, member: "one" }),
    await other.lease({ ...ask, member: "other" }),
  ];
  expect(leases.map(({ waitMs, members }) => [waitMs, members])).toEqual([
    [0, 1],
    [100, 2],
    [200, 3],
  ]);
});

test("a pause of one thread reaches all that subscribe to it", async () => {
  const store = memoryLimits({ clock: stopped });
  const [one, other] = [portTo(store), portTo(store)];
  const paused: string[] = [];
  store.onPause("team-a", (ms) => paused.push(`main ${ms}`));
  const isPaused = Promise.withResolvers<void>();
  other.onPause("team-b", () => paused.push("of another key"));
  const stop = other.onPause("team-a", () => paused.push("stopped"));
  stop();
  other.onPause("team-a", (ms) => {
    paused.push(`other ${ms}`);
    isPaused.resolve();
  });
  await other.lease({ ...ask, member: "other" }); // comes after what it subscribed to
  await one.pause("team-a", 500);
  await isPaused.promise;
  expect(paused).toEqual(["main 500", "other 500"]);
  expect((await one.lease({ ...ask, member: "one" })).pausedMs).toBe(500);
});

test("a store that fails fails in the other thread too, with words of this package", async () => {
  const store: LimitStore = {
    lease: () => Promise.reject(new Error("of a store")),
    pause: () => Promise.reject(new Error("of a store")),
    onPause: () => () => undefined,
  };
  const far = portTo(store);
  await expect(far.lease({ ...ask, member: "a" })).rejects.toThrow("the limits could not answer");
  await expect(far.pause("a", 1)).rejects.toThrow("the limits could not answer");
});

test("a worker thread leases of this thread's store, and ends when it has what it wanted", async () => {
  const store = memoryLimits({ clock: stopped });
  await store.lease({ ...ask, member: "main" });
  const port = shareLimits(store);
  const program = `
    import { parentPort, workerData } from "node:worker_threads";
    const { portLimits } = await import(workerData.module);
    const lease = await portLimits(workerData.port).lease({ ...workerData.ask, member: "worker" });
    parentPort.postMessage(lease);
  `;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`), {
    workerData: { port, ask, module: new URL("thread-limits.ts", import.meta.url).href },
    transferList: [port],
    execArgv: [],
  });
  const ended = once(worker, "exit");
  const [lease] = await once(worker, "message");
  expect(lease).toMatchObject({ waitMs: 100, gapMs: 100, members: 2 });
  expect(await ended).toEqual([0]);
});

test("a worker thread that ends with the store leaves nobody waiting, then or later", async () => {
  const program = `
    import { parentPort, workerData } from "node:worker_threads";
    const { shareLimits } = await import(workerData.module);
    const never = () => new Promise(() => {});
    const port = shareLimits({ lease: never, pause: never, onPause: () => () => {} });
    parentPort.postMessage(port, [port]);
    parentPort.on("message", () => {});
  `;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`), {
    workerData: { module: new URL("thread-limits.ts", import.meta.url).href },
    execArgv: [],
  });
  const [port] = (await once(worker, "message")) as [LimitsPort];
  const far = portLimits(port);
  const waiting = [far.lease({ ...ask, member: "a" }), far.pause("team-a", 1)];
  const ended = Promise.allSettled(waiting);
  await worker.terminate();
  const failed = { status: "rejected", reason: new Error("The thread with the limits has ended.") };
  expect(await ended).toEqual([failed, failed]);
  await expect(far.lease({ ...ask, member: "a" })).rejects.toThrow("has ended");
});
