/** Something that may be aborted before it is done. */
export interface Abortable {
  /** Aborts it; its reason is thrown as it is. */
  readonly signal: AbortSignal;
  /** Calls back with the reason when it aborts, at once if it has; where given, it spares making the signal. */
  onAbort?(listener: (reason: unknown) => void): void;
}

/** Calls back with the reason when it aborts; the returned function stops that. */
export function whenAborted(abortable: Abortable, listener: (reason: unknown) => void): () => void {
  if (abortable.onAbort !== undefined) {
    abortable.onAbort(listener);
    return nothingToStop;
  }
  const { signal } = abortable;
  const onAbort = () => listener(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  return () => signal.removeEventListener("abort", onAbort);
}

function nothingToStop(): void {
  // Whoever offers onAbort forgets its listeners when it is done.
}
