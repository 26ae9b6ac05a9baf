import { timeoutError } from "./retry/retried-call.ts";
import type { RetryPolicy } from "./retry/retry-policy.ts";

// Chosen: an attempt that ends at the same instant has the better error.
const GRACE_MS = 10;

/** The end of a call through middleware: its deadline, or the caller's abort. */
export class CallDeadline {
  /** Monotonic time in milliseconds; infinite for none. */
  readonly atMs: number;
  readonly #policy: RetryPolicy;
  #controller: AbortController | null = null;
  #end: { readonly reason: unknown } | null = null;
  #wasSent = false;

  constructor(policy: RetryPolicy) {
    this.#policy = policy;
    this.atMs = policy.clock.now() + policy.deadlineMs;
  }

  /** Aborts with the caller's reason, or with a `TimeoutError` at the deadline; made on demand. */
  get signal(): AbortSignal | undefined {
    if (this.atMs === Number.POSITIVE_INFINITY) return this.#policy.signal;
    this.#controller ??= new AbortController();
    if (this.#end !== null) this.#controller.abort(this.#end.reason);
    return this.#controller.signal;
  }

  /** Sends a request of the call; if its time is up, no attempt of it begins. */
  async send<TValue>(ask: () => Promise<TValue>): Promise<TValue> {
    this.#wasSent ||= this.#policy.clock.now() < this.atMs;
    return await ask();
  }

  /** Settles as the call does, or rejects soon after its end, even if a middleware waits on. */
  run<TValue>(call: () => Promise<TValue>): Promise<TValue> {
    const { clock, signal, deadlineMs } = this.#policy;
    const { promise, resolve, reject } = Promise.withResolvers<TValue>();
    const cancels: (() => void)[] = [];
    const end = (reason: unknown) => {
      this.#end = { reason };
      this.#controller?.abort(reason);
      cancels.push(clock.schedule(GRACE_MS, () => reject(reason)));
    };
    const onTime = () => end(timeoutError("deadlineMs", this.#policy, this.#wasSent));
    const onAbort = () => end(signal?.reason);
    if (this.atMs !== Number.POSITIVE_INFINITY) cancels.push(clock.schedule(deadlineMs, onTime));
    signal?.addEventListener("abort", onAbort, { once: true });
    const release = () => {
      for (const cancel of cancels) cancel();
      signal?.removeEventListener("abort", onAbort);
    };
    call().then(resolve, reject);
    return promise.finally(release);
  }
}
