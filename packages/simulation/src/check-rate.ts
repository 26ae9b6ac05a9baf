import { limitsOf } from "./plan/plan.ts";
import type { World } from "./world.ts";

// A pacer that was not told the limit has found it after a minute.
const FOUND_MS = 60_000;
// A shorter time has too few refusals to count.
const LEAST_MS = 120_000;
const LEAST_USED = 0.9;
const MOST_THROTTLED = 0.02;

/**
 * Under steady load, checks that the limit is used and little is refused: from the start, or from a
 * minute after it and each change if the clients are not told the limit.
 */
export function checkRate(
  { plan, time, tallies, service, checks, endMs }: World,
  { isLimitTold }: { readonly isLimitTold: boolean },
): void {
  if (plan.load === "mixed") return;
  const countAll = () => ({ ...tallies.of("client"), throttled: service.throttled });
  const limits = limitsOf(plan);
  for (const [at, { atMs, perSecond }] of limits.entries()) {
    const [fromMs, untilMs] = [isLimitTold ? atMs : atMs + FOUND_MS, limits[at + 1]?.atMs ?? endMs];
    if (untilMs - fromMs < LEAST_MS) continue;
    time.schedule(fromMs, () => {
      const before = countAll();
      time.schedule(untilMs - fromMs, () => {
        const after = countAll();
        const used = after.used - before.used;
        const allowed = (perSecond * (untilMs - fromMs)) / 1000;
        const seen = () => `${used} of ${Math.round(allowed)} calls that the limit allows`;
        checks.expect("rate", used >= LEAST_USED * allowed, seen);
        const throttled = after.throttled - before.throttled;
        const asked = after.asked - before.asked;
        const refused = () => `${throttled} of ${asked} calls were refused`;
        checks.expect("rate", throttled <= MOST_THROTTLED * asked, refused);
      });
    });
  }
}
