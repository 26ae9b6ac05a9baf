import type { World } from "./world.ts";

// The pacer has found a limit that it was not told after a minute.
const FOUND_MS = 60_000;
const LEAST_USED = 0.9;
const MOST_THROTTLED = 0.02;

/** Under steady load, checks from the second minute on that the limit is used, and that little is refused. */
export function checkRate({ plan, time, tallies, service, checks, endMs }: World): void {
  const { limit } = plan.service;
  if (plan.load === "mixed" || limit === null || endMs < 2 * FOUND_MS) return;
  const countAll = () => ({ ...tallies.of("client"), throttled: service.throttled });
  time.schedule(FOUND_MS, () => {
    const before = countAll();
    time.schedule(endMs - FOUND_MS, () => {
      const after = countAll();
      const used = after.used - before.used;
      const allowed = (limit.perSecond * (endMs - FOUND_MS)) / 1000;
      const seen = () => `${used} of ${Math.round(allowed)} calls that the limit allows`;
      checks.expect("rate", used >= LEAST_USED * allowed, seen);
      const throttled = after.throttled - before.throttled;
      const asked = after.asked - before.asked;
      const refused = () => `${throttled} of ${asked} calls were refused`;
      checks.expect("rate", throttled <= MOST_THROTTLED * asked, refused);
    });
  });
}
