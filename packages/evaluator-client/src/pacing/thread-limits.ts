import type { Lease, LeaseRequest, LimitStore } from "./limit-store.ts";

/**
 * A message to the thread with the store. Both ends are of one version of this package, so their
 * form may change; all but `subscribe` is answered under its number.
 */
type ThreadRequest =
  | { readonly number: number; readonly lease: LeaseRequest }
  | { readonly number: number; readonly pause: string; readonly ms: number }
  | { readonly subscribe: string };

/** A message back: how a request ended, or that a key subscribed to was paused. */
type ThreadResponse =
  | { readonly number: number; readonly lease: Lease | null; readonly isFailed: boolean }
  | { readonly paused: string; readonly ms: number };

/** A port of a `MessageChannel`, of the web's or of `node:worker_threads`. */
export type LimitsPort = InstanceType<typeof MessagePort>;

/** A port of Node keeps its thread running unless `unref` is called; others have no such methods. */
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
  const respond = (response: ThreadResponse) => near.postMessage(response, []);
  listen<ThreadRequest>(near, (request) => {
    if ("subscribe" in request) {
      const { subscribe: key } = request;
      store.onPause(key, (ms) => respond({ paused: key, ms }));
      return;
    }
    const { number } = request;
    const call =
      "lease" in request ? store.lease(request.lease) : store.pause(request.pause, request.ms);
    call.then(
      (lease) => respond({ number, lease: lease ?? null, isFailed: false }),
      () => respond({ number, lease: null, isFailed: true }),
    );
  });
  return far;
}

/** Listens without keeping the thread running. */
function listen<TMessage>(port: LimitsPort, onMessage: (message: TMessage) => void): void {
  port.addEventListener("message", (event) =>
    onMessage((event as Event & { data: TMessage }).data),
  );
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

const ENDED = "The thread with the limits has ended.";

class PortLimits implements LimitStore {
  readonly #port: CountedPort;
  readonly #pending = new Map<number, PromiseWithResolvers<Lease | null>>();
  readonly #listeners = new Map<string, Set<(ms: number) => void>>();
  #number = 0;
  #isClosed = false;

  constructor(port: LimitsPort) {
    this.#port = port;
    listen<ThreadResponse>(port, (response) => this.#receive(response));
    port.addEventListener("close", () => this.#close());
  }

  async lease(lease: LeaseRequest): Promise<Lease> {
    const leased = await this.#send((number) => ({ number, lease }));
    if (leased === null) throw new Error("The thread with the limits gave no lease.");
    return leased;
  }

  async pause(key: string, ms: number): Promise<void> {
    await this.#send((number) => ({ number, pause: key, ms }));
  }

  onPause(key: string, listener: (ms: number) => void): () => void {
    const known = this.#listeners.get(key);
    const listeners = known ?? new Set();
    const own = (ms: number) => listener(ms);
    listeners.add(own);
    if (known === undefined) {
      this.#listeners.set(key, listeners);
      this.#port.postMessage({ subscribe: key } satisfies ThreadRequest, []);
    }
    return () => void listeners.delete(own);
  }

  /** The other thread has ended: it will answer nobody. */
  #close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#pending.values()) reject(new Error(ENDED));
    this.#pending.clear();
  }

  async #send(toRequest: (number: number) => ThreadRequest): Promise<Lease | null> {
    if (this.#isClosed) throw new Error(ENDED);
    const number = ++this.#number;
    const pending = Promise.withResolvers<Lease | null>();
    this.#pending.set(number, pending);
    // Whoever waits for a lease keeps the thread running.
    this.#port.ref?.();
    this.#port.postMessage(toRequest(number), []);
    return await pending.promise;
  }

  #receive(response: ThreadResponse): void {
    if ("paused" in response) {
      for (const listener of this.#listeners.get(response.paused) ?? []) listener(response.ms);
      return;
    }
    const pending = this.#pending.get(response.number);
    this.#pending.delete(response.number);
    if (this.#pending.size === 0) this.#port.unref?.();
    if (response.isFailed) {
      pending?.reject(new Error("The thread with the limits could not answer."));
    } else pending?.resolve(response.lease);
  }
}
