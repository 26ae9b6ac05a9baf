import type { Plan } from "./plan/plan.ts";
import { Checks } from "./properties/checks.ts";
import { Tallies } from "./properties/tally.ts";
import { PASSWORD, Secrets } from "./properties/secrets.ts";
import { ModelService } from "./service/model-service.ts";
import { ProcessClock } from "./time/process-clock.ts";
import { Random } from "./time/random.ts";
import { VirtualTime } from "./time/virtual-time.ts";
import { Trace } from "./trace.ts";

// No word of a message has eight of them in a row.
const KEY_LETTERS = "ghijkmnpqrstuvwxyz".split("");

/** All that the parts of a simulation share. */
export class World {
  readonly plan: Plan;
  readonly time = new VirtualTime();
  readonly trace: Trace;
  readonly checks = new Checks(this.time);
  readonly secrets: Secrets;
  readonly apiKey: string;
  /** The service with the faults of the plan, and one that only helps out. */
  readonly service: ModelService;
  readonly second: ModelService;
  /** The processes that live, by their names. */
  readonly processes = new Map<string, ProcessClock>();
  readonly tallies = new Tallies();
  /** Starts a process again, by its name. */
  restart: (name: string) => void = () => {};
  #ids = 0;

  constructor(plan: Plan, onLine: ((line: string) => void) | null = null) {
    const { seed, service, faults } = plan;
    this.plan = plan;
    this.trace = new Trace(onLine);
    const letters = new Random(seed, "key");
    this.apiKey = Array.from({ length: 32 }, () => letters.pick(KEY_LETTERS)).join("");
    this.secrets = new Secrets(this.checks, [this.apiKey, PASSWORD]);
    const shared = { time: this.time, trace: this.trace, tallies: this.tallies };
    const ofService = faults.filter((fault) => fault.kind === "service");
    this.service = new ModelService({
      ...shared,
      ...service,
      random: this.random("latency"),
      faults: ofService,
    });
    this.second = new ModelService({
      ...shared,
      random: this.random("second"),
      limit: null,
      latencyMs: 200,
      faults: [],
    });
  }

  /** When load and faults end, in milliseconds. */
  get endMs(): number {
    return this.plan.minutes * 60_000;
  }

  /** Returns the generator of one concern. */
  random(concern: string): Random {
    return new Random(this.plan.seed, concern);
  }

  /** Returns an id that is the same each time the seed is played. */
  newId = (): string => {
    this.#ids += 1;
    return `00000000-0000-4000-8000-${String(this.#ids).padStart(12, "0")}`;
  };

  /** Starts a process; faults with its name meet it. */
  startProcess(name: string): ProcessClock {
    const clock = new ProcessClock(this.time);
    this.processes.set(name, clock);
    return clock;
  }

  /** Kills a process, and starts it again after a while. */
  kill(name: string, backAfterMs: number): void {
    this.trace.add(this.time.nowMs, name, "dies");
    const process = this.processes.get(name);
    this.processes.delete(name);
    process?.kill();
    this.time.schedule(backAfterMs, () => this.restart(name));
  }

  /** Returns the clock of a machine without faults. */
  machineClock(): ProcessClock {
    return new ProcessClock(this.time);
  }

  /** Ends the simulation with the error of a promise that should not have failed. */
  watch(promise: Promise<unknown>): void {
    promise.catch((error: unknown) => {
      this.time.schedule(0, () => {
        throw error;
      });
    });
  }
}
