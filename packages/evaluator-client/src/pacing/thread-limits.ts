import type { Lease, LeaseRequest, LimitStore } from "./limit-store.ts";

/** What a thread sends to the one with the store; all but `hear` is answered under its number. */
type Asked =
  | { readonly number: number; readonly lease: LeaseRequest }
  | { readonly number: number; readonly pause: string; readonly ms: number }
  | { readonly hear: string };

/** What comes back: how a call ended, or that somebody paused a key. */
type Told =
  | { readonly number: number; readonly lease: Lease | null; readonly isFailed: boolean }
  | { readonly paused: string; readonly ms: number };

/** A port of a `MessageChannel`, of the web's or of `node:worker_threads`. */
export type LimitsPort = InstanceType<typeof MessagePort>;

/** A port of Node keeps its thread running unless it is told not to; others have no such methods. */
type CountedPort = Omit<LimitsPort, "ref" | "unref"> & { ref?(): void; unref?(): void };

/**
 * Returns a port through which another thread uses a store of this one: send it with `workerData` and
 * `transferList`, or with `postMessage`, and give it to {@link portLimits} there. One port for each
 * thread; this thread has to go on running.
 *
 * @example
 * ```ts
 * const limits = shareLimits(store);
 * new Worker(file, { workerData: { limits }, transferList: [limits] });
 * ```
 */
export function shareLimits(store: LimitStore): LimitsPort {
  const { port1: near, port2: far } = new MessageChannel();
  const tell = (told: Told) => near.postMessage(told, []);
  listen<Asked>(near, (data) => {
    if ("hear" in data) {
      store.onPause(data.hear, (ms) => tell({ paused: data.hear, ms }));
      return;
    }
    const { number } = data;
    const call = "lease" in data ? store.lease(data.lease) : store.pause(data.pause, data.ms);
    call.then(
      (lease) => tell({ number, lease: lease ?? null, isFailed: false }),
      () => tell({ number, lease: null, isFailed: true }),
    );
  });
  return far;
}

/** Listens without keeping the thread running. */
function listen<TMessage>(port: LimitsPort, hear: (message: TMessage) => void): void {
  port.addEventListener("message", (event) => hear((event as Event & { data: TMessage }).data));
  port.start();
  (port as CountedPort).unref?.();
}

/**
 * Returns the store behind a port of {@link shareLimits}, for evaluators of this thread.
 *
 * @example
 * ```ts
 * const store = portLimits(workerData.limits);
 * await using pacer = sharedPacer({ store, key: "team-a", limits: { requestsPerMinute: 1200 } });
 * ```
 */
export function portLimits(port: LimitsPort): LimitStore {
  return new PortLimits(port);
}

class PortLimits implements LimitStore {
  readonly #port: CountedPort;
  readonly #asked = new Map<number, PromiseWithResolvers<Lease | null>>();
  readonly #listeners = new Map<string, Set<(ms: number) => void>>();
  #number = 0;

  constructor(port: LimitsPort) {
    this.#port = port;
    listen<Told>(port, (told) => this.#hear(told));
  }

  async lease(lease: LeaseRequest): Promise<Lease> {
    const leased = await this.#ask((number) => ({ number, lease }));
    if (leased === null) throw new Error("The thread with the limits gave no lease.");
    return leased;
  }

  async pause(key: string, ms: number): Promise<void> {
    await this.#ask((number) => ({ number, pause: key, ms }));
  }

  onPause(key: string, listener: (ms: number) => void): () => void {
    const known = this.#listeners.get(key);
    const listeners = known ?? new Set();
    const own = (ms: number) => listener(ms);
    listeners.add(own);
    if (known === undefined) {
      this.#listeners.set(key, listeners);
      this.#port.postMessage({ hear: key } satisfies Asked, []);
    }
    return () => void listeners.delete(own);
  }

  async #ask(toAsked: (number: number) => Asked): Promise<Lease | null> {
    const number = ++this.#number;
    const answer = Promise.withResolvers<Lease | null>();
    this.#asked.set(number, answer);
    // Whoever waits for a lease keeps the thread running.
    this.#port.ref?.();
    this.#port.postMessage(toAsked(number), []);
    return await answer.promise;
  }

  #hear(told: Told): void {
    if ("paused" in told) {
      for (const listener of this.#listeners.get(told.paused) ?? []) listener(told.ms);
      return;
    }
    const answer = this.#asked.get(told.number);
    this.#asked.delete(told.number);
    if (this.#asked.size === 0) this.#port.unref?.();
    if (told.isFailed) answer?.reject(new Error("The thread with the limits could not answer."));
    else answer?.resolve(told.lease);
  }
}
