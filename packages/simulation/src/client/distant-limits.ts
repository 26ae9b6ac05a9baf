import type { LimitStore } from "evaluator-client";
import type { StoreConnection } from "../store-faults.ts";
import type { ProcessClock } from "../time/process-clock.ts";

/** Returns a store of limits as a process reaches it. */
export function distantLimits(
  store: LimitStore,
  connection: StoreConnection,
  clock: ProcessClock,
): LimitStore {
  const reach = <TResult>(call: () => Promise<TResult>) =>
    connection.call(clock, call, () => new Error("The store of limits is away."));
  return {
    read: (key) => reach(() => store.read(key)),
    swap: (key, version, row) => reach(() => store.swap(key, version, row)),
    onPause(key, listener) {
      const end = store.onPause(key, (ms) => {
        // Who is cut off from the store never hears of it, as with NOTIFY.
        if (!connection.isCut(clock.time.nowMs)) clock.schedule(1, () => listener(ms));
      });
      clock.onDeath(end);
      return end;
    },
  };
}
