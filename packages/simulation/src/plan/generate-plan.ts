import { Random } from "../time/random.ts";
import type { Fault, FaultOf } from "./fault.ts";
import { type Plan, PLAN_VERSION } from "./plan.ts";

type Setting = Pick<Plan, "seed" | "minutes" | "part" | "store">;
type ServiceLimit = NonNullable<Plan["service"]["limit"]>;

// Chosen: most seeds meet several faults in half a minute, and the work goes on between them.
const FAULTS_A_MINUTE = 4;
const CALM_SEEDS = 1 / 8;
const STEADY_SEEDS = 1 / 6;
// A limit is found in a minute, and its use is measured for two.
const STEADY_MINUTES = 3;
const CHANGE_MINUTES = 4.5;

/** Returns what a seed means: processes, load, service and faults. */
export function generatePlan(setting: Setting): Plan {
  const { seed, minutes, part } = setting;
  const random = new Random(seed, "plan");
  const isWhole = part === "whole";
  const clients = isWhole ? random.whole(1, 2) : random.whole(1, 3);
  const workers = isWhole ? Math.min(8, Math.ceil(random.magnitude(0.5, 8))) : 0;
  const records = isWhole ? Math.ceil(minutes * random.magnitude(30, 300)) : 0;
  const perSecond = random.magnitude(3, 12);
  // In seconds of the rate. A run and a journal do not share a pacer, and processes that know only
  // their own refusals cannot use a limit with a smaller burst.
  const leastBurst = isWhole ? 3 : 0.4;
  const limit = random.chance(0.5)
    ? { perSecond, burst: perSecond * random.between(leastBurst, leastBurst + 0.6) }
    : null;
  const service = { limit, latencyMs: random.magnitude(40, 1500) };
  const isCalm = random.chance(CALM_SEEDS);
  const version = PLAN_VERSION;
  const steady = new Random(seed, "steady load");
  if (limit !== null && minutes >= STEADY_MINUTES && steady.chance(STEADY_SEEDS)) {
    return { version, ...setting, ...steadyLoad(steady, { clients, limit, minutes }) };
  }
  const processes = [
    ...Array.from({ length: clients }, (_, at) => `client ${at}`),
    ...Array.from({ length: workers }, (_, at) => `worker ${at}`),
    ...(isWhole ? ["journal"] : []),
  ];
  const faults = isCalm ? [] : faultsOf(setting, processes, limit);
  return { version, ...setting, load: "mixed", clients, workers, records, service, faults };
}

/** Clients that ask as much as they may; in half of the plans, the limit of a single one changes after a third. */
function steadyLoad(
  random: Random,
  { clients, limit, minutes }: Pick<Plan, "clients" | "minutes"> & { readonly limit: ServiceLimit },
) {
  const isChanged = minutes >= CHANGE_MINUTES && random.chance(0.5);
  // A pacer finds a limit from some hundred answers, which it has in a minute of so many a second.
  const faster = isChanged ? 8 : random.pick([1, 4]);
  const perSecond = faster * limit.perSecond;
  const fast = { perSecond, burst: perSecond * random.between(0.4, 1) };
  // Requests that overtake each other by more than the burst are refused at any rate.
  const latencyMs = random.magnitude(20, faster === 8 || random.chance(0.5) ? 100 : 400);
  const changes = isChanged ? [limitChange(random, minutes * 20_000, perSecond)] : [];
  const rest = { clients: isChanged ? 1 : clients, workers: 0, records: 0, faults: changes };
  return { load: "steady" as const, service: { limit: fast, latencyMs }, ...rest };
}

/** The limit rises or falls. */
function limitChange(random: Random, atMs: number, before: number): FaultOf<"service"> {
  const perSecond = before * random.magnitude(0.5, 2.5);
  return { kind: "service", what: "rate", atMs: Math.round(atMs), perSecond };
}

function faultsOf(
  setting: Setting,
  processes: readonly string[],
  limit: ServiceLimit | null,
): Fault[] {
  const { seed, minutes, part } = setting;
  const spanMs = minutes * 60_000;
  /** Draws a number of faults of one concern, from a generator of its own. */
  const drawn = <TFault extends Fault>(
    concern: string,
    aMinute: number,
    draw: (random: Random, atMs: number) => TFault,
  ): TFault[] => {
    const random = new Random(seed, `faults of ${concern}`);
    const count = random.whole(0, Math.ceil(2 * aMinute * minutes));
    return Array.from({ length: count }, () => draw(random, Math.round(random.between(0, spanMs))));
  };
  const isWhole = part === "whole";
  const all = [
    ...drawn("service", FAULTS_A_MINUTE, serviceFault),
    ...drawn("processes", FAULTS_A_MINUTE / (isWhole ? 1 : 2), (random, atMs) =>
      processFault(random, atMs, processes),
    ),
    ...drawn("store", FAULTS_A_MINUTE / 2, storeFault),
    ...drawn("notifications", FAULTS_A_MINUTE / 4, lostNotify),
    ...drawn("late replies", FAULTS_A_MINUTE / 4, lateReplies),
    ...(limit === null
      ? []
      : drawn("limits", FAULTS_A_MINUTE / 40, (random, atMs) =>
          limitChange(random, atMs, limit.perSecond),
        )),
    ...(isWhole ? drawn("disk", FAULTS_A_MINUTE / 4, diskFault) : []),
  ];
  return all.toSorted((one, other) => one.atMs - other.atMs);
}

const statuses = [429, 429, 429, 500, 502, 503, 529, 409, 400];

function serviceFault(random: Random, atMs: number): FaultOf<"service"> {
  const kind = "service";
  const requests = Math.ceil(random.magnitude(0.5, 12));
  const what = random.pick([
    "status",
    "status",
    "cut",
    "garbage",
    "broken",
    "hang",
    "lost-before",
    "lost-after",
    "lost-after",
    "slow",
    "outage",
    "limit",
  ] as const);
  if (what === "status") {
    const retryAfterMs = random.chance(0.5) ? Math.round(random.magnitude(100, 8000)) : null;
    return { kind, what, atMs, requests, status: random.pick(statuses), retryAfterMs };
  }
  if (what === "outage" || what === "limit") {
    return { kind, what, atMs, forMs: Math.round(random.magnitude(200, 20_000)) };
  }
  return { kind, what, atMs, requests };
}

function processFault(random: Random, atMs: number, processes: readonly string[]) {
  const process = random.pick(processes);
  const kind = random.pick(["kill", "kill", "freeze", "slow", "clock"] as const);
  const forMs = Math.round(random.magnitude(100, 60_000));
  const eventMs = Math.round(random.magnitude(1, 100));
  if (kind === "kill") {
    return { kind, process, atMs, backAfterMs: Math.round(random.magnitude(10, 20_000)) };
  }
  if (kind === "clock") return { kind, process, atMs, byMs: clockStep(random) };
  return kind === "freeze"
    ? { kind, process, atMs, forMs }
    : { kind, process, atMs, forMs, eventMs };
}

function clockStep(random: Random): number {
  const HOUR_MS = 3_600_000;
  return Math.round(random.pick([-2 * HOUR_MS, 2 * HOUR_MS, 400 * 24 * HOUR_MS]) * random.next());
}

function storeFault(random: Random, atMs: number): FaultOf<"store"> {
  const kind = "store";
  const calls = Math.ceil(random.magnitude(0.5, 8));
  const what = random.pick([
    "lost-before",
    "lost-after",
    "restart",
    "outage",
    "silence",
    "clock",
  ] as const);
  if (what === "clock") return { kind, what, atMs, byMs: clockStep(random) };
  if (what === "lost-before" || what === "lost-after") return { kind, what, atMs, calls };
  const forMs = what === "restart" ? 50 : Math.round(random.magnitude(200, 15_000));
  return { kind, what, atMs, forMs };
}

function lostNotify(random: Random, atMs: number): FaultOf<"store"> {
  const notifications = Math.ceil(random.magnitude(0.5, 8));
  return { kind: "store", what: "lost-notify", atMs, notifications };
}

// Some are near the length of a lease.
function lateReplies(random: Random, atMs: number): FaultOf<"store"> {
  const forMs = Math.round(random.magnitude(500, 20_000));
  const delayMs = Math.round(random.magnitude(1000, 20_000));
  return { kind: "store", what: "slow", atMs, forMs, delayMs };
}

function diskFault(random: Random, atMs: number): FaultOf<"disk"> {
  const kind = "disk";
  const operations = Math.ceil(random.magnitude(0.5, 20));
  const what = random.pick(["full", "short", "sync", "power", "power"] as const);
  const meets = { operations, isOfFiles: random.chance(0.6) };
  if (what !== "power") return { kind, what, atMs, ...meets };
  return { kind, what, atMs, ...meets, backAfterMs: Math.round(random.magnitude(10, 10_000)) };
}
