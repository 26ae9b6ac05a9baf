import { type EvaluatorRuntime, readRuntime } from "../clock.ts";
import {
  currentRow,
  type Lease,
  lease,
  type LeaseRequest,
  type LimitRow,
  pause,
} from "./limit-row.ts";

/** A shared limit as a store returns it. */
export interface StoredLimit {
  /** Null if the key is new. */
  readonly row: LimitRow | null;
  /** Identifies this state of the row for {@link LimitStore.swap}. */
  readonly version: number;
  /** The store's clock, in milliseconds. */
  readonly nowMs: number;
}

/**
 * Where processes agree on a limit: one row for each key. {@link memoryLimits} is an example to copy.
 */
export interface LimitStore {
  /**
   * Returns the row of a key and the time, both from the store. A store with locks may lock the row until
   * `swap` follows, which always happens at once.
   */
  read(key: string): Promise<StoredLimit>;
  /**
   * Writes the row unless it has changed since that version. If its `pausedUntilMs` is later than
   * before, all listeners of the key are called with the rest of the pause.
   *
   * @returns Whether the row was written.
   */
  swap(key: string, version: number, row: LimitRow): Promise<boolean>;
  /** Calls the listener whenever a key is paused. The returned function ends that. */
  onPause(key: string, listener: (ms: number) => void): () => void;
}

/**
 * Creates a store for the evaluators of one process. Other processes and worker threads need a store in
 * a database.
 *
 * @example
 * ```ts
 * const pacer = sharedPacer({ store: memoryLimits(), key: "team-a", limits: { requestsPerMinute: 1200 } });
 * ```
 */
export function memoryLimits(runtime: Pick<EvaluatorRuntime, "clock"> = {}): LimitStore {
  const { clock } = readRuntime(runtime);
  const stored = new Map<string, { row: LimitRow; version: number }>();
  const listeners = new Set<{ key: string; listener: (ms: number) => void }>();
  return {
    async read(key) {
      const { row = null, version = 0 } = stored.get(key) ?? {};
      return { row, version, nowMs: clock.now() };
    },
    async swap(key, version, row) {
      const before = stored.get(key);
      if ((before?.version ?? 0) !== version) return false;
      stored.set(key, { row, version: version + 1 });
      const pausedMs = row.pausedUntilMs - clock.now();
      if (row.pausedUntilMs > (before?.row.pausedUntilMs ?? 0)) {
        for (const each of listeners) if (each.key === key) each.listener(pausedMs);
      }
      return true;
    },
    onPause(key, listener) {
      const own = { key, listener };
      listeners.add(own);
      return () => void listeners.delete(own);
    },
  };
}

/** Reserves the next free instants for some requests. */
export async function leaseFrom(store: LimitStore, key: string, ask: LeaseRequest): Promise<Lease> {
  return await change(store, key, (row, nowMs) => lease(row, ask, nowMs));
}

/** Keeps all processes from sending for a while, and lowers the rate. */
export async function pauseAll(store: LimitStore, key: string, ms: number): Promise<void> {
  await change(store, key, (row, nowMs) => [pause(row, ms, nowMs), null]);
}

/** Changes the row of a key; again if another process was faster. */
async function change<TResult>(
  store: LimitStore,
  key: string,
  toNext: (row: LimitRow, nowMs: number) => readonly [LimitRow, TResult],
): Promise<TResult> {
  for (;;) {
    const stored = await store.read(key);
    const [row, result] = toNext(currentRow(stored.row, stored.nowMs), stored.nowMs);
    if (await store.swap(key, stored.version, { ...row, writtenAtMs: stored.nowMs })) return result;
  }
}
