import type { Clock } from "../clock.ts";

/** Waits `delayMs`, or rejects with the signal's reason as soon as it aborts; leaves no listener. */
export function sleep(
  delayMs: number,
  { clock, signal }: { clock: Clock; signal?: AbortSignal | undefined },
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const cancel = clock.schedule(delayMs, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    function onAbort() {
      cancel();
      reject(signal?.reason);
    }
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
