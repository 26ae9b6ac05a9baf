import { CliError, type Clock, exitCodes, type TextSink } from "evaluator-kit";

/** How long the calls in flight may go on after an interruption, in milliseconds. */
const DRAIN_MS = 10_000;

/** Gives the calls in flight some seconds after an interruption, so that paid answers are kept. */
export function startDrain(
  interruption: AbortSignal,
  { clock, stderr }: { clock: Clock; stderr: TextSink },
): { readonly signal: AbortSignal; release(): void } {
  const drainedController = new AbortController();
  let cancelDrain: (() => void) | null = null;
  const onAbort = () => {
    stderr.write("\nEnding: answers on their way are still kept. Ctrl-C again leaves at once.\n");
    cancelDrain = clock.schedule(DRAIN_MS, () => drainedController.abort(interruption.reason));
  };
  interruption.addEventListener("abort", onAbort, { once: true });
  return {
    signal: drainedController.signal,
    /** Cancels the timer. */
    release() {
      interruption.removeEventListener("abort", onAbort);
      cancelDrain?.();
    },
  };
}

/** Returns the error of a run that a person or the system ended; the signal's reason decides the exit code. */
export function interrupted(message: string, { reason }: AbortSignal): CliError {
  const exitCode = reason instanceof CliError ? reason.exitCode : exitCodes.interrupted;
  return new CliError(message, { exitCode });
}

/** Calls each time so many milliseconds have passed, until the result is called. */
export function repeat(everyMs: number, repeatedCall: () => void, clock: Clock): () => void {
  const callAndRepeat = () => {
    repeatedCall();
    cancelNext = clock.schedule(everyMs, callAndRepeat);
  };
  let cancelNext = clock.schedule(everyMs, callAndRepeat);
  return () => cancelNext();
}
