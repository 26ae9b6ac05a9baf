import type { LimitStore } from "evaluator-client";
import type { StoreConnection } from "../store-faults.ts";
import type { ProcessClock } from "../time/process-clock.ts";

/** A process that uses a store of limits, and its connection. */
interface LimitMember {
  readonly connection: StoreConnection;
  readonly clock: ProcessClock;
  /** Is called when the process hears nothing of a pause. */
  readonly onMissed: () => void;
}

/** Returns a store of limits as a process reaches it. */
export function distantLimits(
  store: LimitStore,
  { connection, clock, onMissed }: LimitMember,
): LimitStore {
  const reach = <TResult>(call: () => Promise<TResult>) =>
    connection.call(clock, call, () => new Error("The store of limits is away."));
  return {
    read: (key) => reach(() => store.read(key)),
    swap: (key, version, row) => reach(() => store.swap(key, version, row)),
    onPause(key, listener) {
      const end = store.onPause(key, (ms) => {
        if (connection.notifies(clock.time.nowMs)) clock.schedule(1, () => listener(ms));
        else onMissed();
      });
      clock.onDeath(end);
      return end;
    },
  };
}
