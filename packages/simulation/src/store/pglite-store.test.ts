import { expect, test } from "vitest";
import { generatePlan } from "../plan/generate-plan.ts";
import { playPlan } from "../simulate.ts";
import { StoreConnection } from "../store-faults.ts";
import { ProcessClock } from "../time/process-clock.ts";
import { World } from "../world.ts";
import { PgliteStore } from "./pglite-store.ts";

// In this seed neither the journal nor the workers have a cap, which would end them early.
const setting = { seed: 97, minutes: 0.1, part: "whole", store: "pglite" } as const;
const plan = { ...generatePlan(setting), clients: 0, workers: 2, records: 12, faults: [] };

test("workers with lost replies, a kill and a restart give each record its answer, with one trace", async () => {
  const { result } = await playPlan({
    ...plan,
    faults: [
      { kind: "store", what: "lost-after", atMs: 0, calls: 2 },
      { kind: "store", what: "lost-before", atMs: 1000, calls: 3 },
      { kind: "kill", process: "worker 0", atMs: 1500, backAfterMs: 500 },
      { kind: "store", what: "restart", atMs: 2500, forMs: 50 },
      { kind: "store", what: "clock", atMs: 3000, byMs: 7_200_000 },
    ],
  });
  // Seeds that 16 divides are played twice.
  expect(result.failed).toEqual([]);
  expect(result.distinct).toBeGreaterThanOrEqual(22);
});

test("the transaction of a frozen process is rolled back, and others go on", async () => {
  const world = new World(plan);
  const { time } = world;
  const store = await PgliteStore.open(world, new StoreConnection([], world.random("store")));
  const play = async <TResult>(promise: Promise<TResult>): Promise<TResult> => {
    let isOver = false;
    const watched = promise.finally(() => (isOver = true));
    watched.catch(() => {});
    await time.run(() => isOver);
    return await watched;
  };
  const frozen = new ProcessClock(time);
  const [first, second] = await play(
    Promise.all([frozen, new ProcessClock(time)].map((clock) => store.openRuns(clock, false))),
  );
  const setup = { hash: "hash", wire: "wire", modelId: "model", questions: "{}" };
  const made = { setup, name: "mails", facts: "{}", records: 1, maxCostUsd: null };
  const record = { id: "mail-0", key: "key", state: "{}" };
  const { signal } = new AbortController();
  const load = (runs: typeof first, digest: string, onLoad = () => {}) =>
    runs?.join(
      { ...made, digest },
      async function* records() {
        onLoad();
        yield record;
      },
      signal,
    );
  const late = load(first, "one", () => frozen.freeze(30_000));
  late?.catch(() => {});
  await play(time.wait(1000));
  expect(await play(Promise.resolve(load(second, "two")))).toMatchObject({ state: "open" });
  expect(time.nowMs).toBeLessThan(10_000);
  await expect(play(Promise.resolve(late))).rejects.toMatchObject({ failure: "unreachable" });
  const reader = await play(store.openReader());
  expect((await play(reader.list())).map(({ state }) => state)).toEqual(["loading", "open"]);
  await store.close();
});
