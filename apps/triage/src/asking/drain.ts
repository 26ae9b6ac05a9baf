import type { Clock } from "evaluator-cli-kit";
import type { TextSink } from "../surroundings.ts";

/** How long the calls in flight may go on after an interruption, in milliseconds. */
const DRAIN_MS = 10_000;

/** The end of calls in flight, some time after the interruption. */
export interface Drain {
  readonly signal: AbortSignal;
  /** Takes back all timers. */
  readonly release: () => void;
}

/** Gives the calls in flight some seconds after an interruption, so that what is paid for is kept. */
export function startDrain(
  interruption: AbortSignal,
  { clock, stderr }: { clock: Clock; stderr: TextSink },
): Drain {
  const drained = new AbortController();
  let cancel: (() => void) | null = null;
  const onAbort = () => {
    stderr.write("\nEnding: answers on their way are still kept. Ctrl-C again leaves at once.\n");
    cancel = clock.schedule(DRAIN_MS, () => drained.abort(interruption.reason));
  };
  interruption.addEventListener("abort", onAbort, { once: true });
  return {
    signal: drained.signal,
    release() {
      interruption.removeEventListener("abort", onAbort);
      cancel?.();
    },
  };
}
