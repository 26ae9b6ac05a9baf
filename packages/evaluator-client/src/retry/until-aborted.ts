/** Settles as the promise does, or rejects with the signal's reason once it aborts; leaves no listener. */
export function untilAborted<TValue>(
  promise: Promise<TValue>,
  signal: AbortSignal,
): Promise<TValue> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
