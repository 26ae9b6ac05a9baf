import { RateLimitError } from "../errors.ts";
import type { Admission, PacedCall } from "../pacing/call-queue.ts";
import { createPacer } from "../pacing/pacer.ts";
import type { RateLimits } from "../pacing/rate-limits.ts";
import { ManualClock } from "./manual-clock.ts";
import { statusDetails } from "./status-details.ts";

/**
 * Returns a pacer on a clock that stands still, and what becomes of the calls that ask it, by name.
 */
export function pacedCalls(limits: RateLimits = {}, random = 1) {
  const clock = new ManualClock();
  const pacer = createPacer(limits, { clock, random: () => random });
  const admitted: string[] = [];
  const rejected: Record<string, unknown> = {};
  const waits: Record<string, number | null> = {};
  const admissions = new Map<string, Admission>();
  /** Asks for leave to send the call of that name. */
  const ask = async (name: string, changes: Partial<PacedCall> = {}) => {
    const deadline = { deadlineAtMs: Infinity, deadlineMs: Infinity };
    const onWait = (delayMs: number | null) => (waits[name] = delayMs);
    const asked = pacer.admit({ tokens: 1, retries: 0, ...deadline, onWait, ...changes });
    asked.then(
      (admission) => {
        admitted.push(name);
        admissions.set(name, admission);
      },
      (reason: unknown) => (rejected[name] = reason),
    );
    await clock.advance(0);
  };
  /** Ends the call of that name. */
  const end = async (name: string, how: (admission: Admission) => void) => {
    const admission = admissions.get(name);
    if (admission === undefined) throw new Error(`The call ${name} was not admitted.`);
    how(admission);
    await clock.advance(0);
  };
  /** Sends four calls that are all refused, after which every call pauses; forgets that they were sent. */
  const pause = async (retryAfterMs: number | null) => {
    const names = ["w", "x", "y", "z"];
    for (const name of names) await ask(name);
    const cause = new RateLimitError("Slow down.", statusDetails(429, { retryAfterMs }));
    for (const name of names) await end(name, (call) => call.throttled(retryAfterMs, cause));
    admitted.length = 0;
  };
  return { clock, admitted, rejected, waits, ask, end, pause };
}
