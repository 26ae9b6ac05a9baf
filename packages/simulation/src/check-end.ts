import { endOf } from "./plan/fault.ts";
import { limitsOf } from "./plan/plan.ts";
import type { World } from "./world.ts";

// A run ends so long after the last fault, plus its remaining work at the limit.
const REST_MS = 600_000;
// The least share of the limit, or of the time of answers, that is used while work is left.
const LEAST_USED = 1 / 3;
// Each call also waits for the store or the disk.
const STORE_MS = 100;
// A pacer rightly slows down if more of the requests are refused.
const TOLERATED = 0.005;

/** Returns the time at which the whole simulation is over at the latest. */
export function lastEndMs(world: World): number {
  const { records, workers, service } = world.plan;
  // Processes that pace themselves refuse each other's requests: a bucket that holds one request and a
  // half refuses a third of them if two thirds of its rate are used. So each may use its part only.
  const processes = service.limit === null ? 2 : workers + 1;
  return lastFaultMs(world) + REST_MS + (processes * records * callMs(world)) / LEAST_USED;
}

/** In each ten minutes after the last fault, the work goes on at the limit, or refusals slow it down. */
export function checkProgress(world: World, isOver: () => boolean): void {
  const { time, tallies, service, checks } = world;
  const countAll = () => ({ ...tallies.sum, throttled: service.throttled });
  const watch = () => {
    const before = countAll();
    // Such as five more requests that hang.
    const isDisturbed = service.hasFaults;
    time.schedule(REST_MS, () => {
      if (isOver()) return;
      const after = countAll();
      const used = after.used - before.used;
      const least = (LEAST_USED * REST_MS) / callMs(world);
      const share = (after.throttled - before.throttled) / (after.asked - before.asked);
      const seen = () => `${used} answers in ten minutes < ${Math.round(least)}, ${share} refused`;
      checks.expect("ends", used >= least || share > TOLERATED || isDisturbed, seen);
      watch();
    });
  };
  time.schedule(lastFaultMs(world), watch);
}

function lastFaultMs({ plan, endMs }: World): number {
  return Math.max(endMs, ...plan.faults.map(endOf));
}

/** Returns how long a call takes if calls follow one another. */
function callMs({ plan }: World): number {
  const perSecond = limitsOf(plan).at(-1)?.perSecond ?? Infinity;
  return Math.max(plan.service.latencyMs + STORE_MS, 1000 / perSecond);
}
