import process from "node:process";
import { ClientGroup } from "./client/client-group.ts";
import { generatePlan } from "./plan/generate-plan.ts";
import { countFaults, type Plan } from "./plan/plan.ts";
import { playProcessFaults } from "./process-faults.ts";
import { type Break, type Property, properties } from "./properties/checks.ts";
import { JournalProcess } from "./runs/journal-process.ts";
import { WorkerGroup } from "./runs/worker-group.ts";
import { scheduleEnd } from "./check-end.ts";
import { checkRate } from "./check-rate.ts";
import { boundOf } from "./properties/tally.ts";
import { World } from "./world.ts";

/** Which seed to play, and how. */
export interface Simulated extends Pick<Plan, "seed"> {
  /** Virtual minutes with load and faults. @default 60 */
  readonly minutes?: number;
  /** @default "whole" */
  readonly part?: Plan["part"];
  /** @default "memory" */
  readonly store?: Plan["store"];
}

/** The result of a seed; its keys are those of `--json`. */
export interface Result {
  readonly seed: number;
  readonly ok: boolean;
  /** SHA-256 of all events, 64 hexadecimal digits. */
  readonly trace: string;
  readonly virtualMs: number;
  readonly cpuMs: number;
  /** Answers, and the requests for them: at most `bound` more. */
  readonly distinct: number;
  readonly asked: number;
  readonly bound: number;
  /** Records and calls without an end, and wrong answers. */
  readonly lost: number;
  readonly wrong: number;
  readonly faults: ReturnType<typeof countFaults>;
  /** The properties that do not hold. */
  readonly failed: readonly Property[];
}

/** A played plan: its result, and the first break of a property. */
export interface Played {
  readonly plan: Plan;
  readonly result: Result;
  readonly first: Break | null;
}

// Each seed twice would halve the seeds of a night.
const TWICE_EVERY = 16;

/** Plays one seed in virtual time. */
export async function simulate(simulated: Simulated): Promise<Result> {
  const { seed, minutes = 60, part = "whole", store = "memory" } = simulated;
  return (await playPlan(generatePlan({ seed, minutes, part, store }))).result;
}

/** Plays a plan; some are played twice, to compare the traces. */
export async function playPlan(plan: Plan): Promise<Played> {
  const startedAt = process.cpuUsage();
  const { world, trace } = await playOnce(plan);
  const { checks } = world;
  if (plan.seed % TWICE_EVERY === 0) {
    const again = await playOnce(plan);
    checks.expect("same-trace", again.trace === trace, () => "the second trace is another one");
  }
  const { user, system } = process.cpuUsage(startedAt);
  const failed = properties.filter((property) => checks.count(property) > 0);
  const result = {
    seed: plan.seed,
    ok: failed.length === 0,
    trace,
    virtualMs: Math.round(world.time.nowMs),
    cpuMs: Math.round((user + system) / 1000),
    distinct: world.tallies.sum.distinct,
    asked: world.tallies.sum.asked,
    bound: boundOf(world.tallies.sum),
    lost: checks.count("nothing-lost"),
    wrong: checks.count("nothing-wrong"),
    faults: countFaults(plan.faults),
    failed,
  };
  return { plan, result, first: checks.first };
}

/** Plays a plan once; `onLine` is called with each event. */
export async function playOnce(plan: Plan, onLine: ((line: string) => void) | null = null) {
  const world = new World(plan, onLine);
  const workers = await WorkerGroup.open(world);
  await play(world, workers).finally(() => workers.close());
  return { world, trace: world.trace.digest() };
}

async function play(world: World, workers: WorkerGroup): Promise<void> {
  const { time, checks } = world;
  const clients = new ClientGroup(world);
  const journal = new JournalProcess(world);
  const start = (name: string) => {
    for (const group of [clients, workers, journal]) group.start(name);
  };
  world.restart = start;
  playProcessFaults(world);
  checkRate(world, clients);
  for (const name of [...clients.names, "journal"]) start(name);
  for (const name of workers.names) time.schedule(workers.startMs(name), () => start(name));
  const state = { isLate: false, isChecked: false };
  scheduleEnd(world, [workers, journal], () => (state.isLate = true));
  const isOver = () => clients.isOver && workers.isOver && journal.isOver;
  await time.run(() => isOver() || state.isLate);
  const open = [clients.isOver ? [] : "clients", workers.names, journal.isOver ? [] : "journal"];
  checks.expect("ends", isOver(), () => `${open.flat().join(", ")} did not end in time`);
  const checked = workers.check();
  world.watch(checked.then(() => (state.isChecked = true)));
  await time.run(() => state.isChecked);
  journal.count();
  for (const [group, tally] of world.tallies) {
    const { asked, distinct } = tally;
    const bound = boundOf(tally);
    const isWithin = asked <= distinct + bound;
    checks.expect("asked", isWithin, () => `${group}: ${asked} > ${distinct} + ${bound}`);
  }
}
