import type { CliError } from "evaluator-kit";
import { type LimitStore, memoryLimits } from "evaluator-client";
import { loadRun, loadWork, type RunCommand } from "evaluator-runs/commands";
import { distantLimits } from "../client/distant-limits.ts";
import { Disk } from "../disk/disk.ts";
import { DiskFaults } from "../disk/disk-faults.ts";
import { StoreConnection } from "../store-faults.ts";
import { openStore } from "../store/open-store.ts";
import type { SharedStore } from "../store/shared-store.ts";
import type { RequestFollower } from "../service/model-service.ts";
import type { ProcessClock } from "../time/process-clock.ts";
import type { World } from "../world.ts";
import { checkKept, checkResults, isSame, type KeptRecord } from "./kept-answers.ts";
import { Leases } from "./leases.ts";
import { estimateUsd } from "./mail-source.ts";
import { Pauses } from "./pauses.ts";
import { programContext, type ProgramLife, RESULTS, runCommand, untilDone } from "./program.ts";
import { Repeats } from "./repeats.ts";
import { Reservations } from "./reservations.ts";
import { Spending } from "./spending.ts";

const WATCH_MS = 3000;
const EXPORT_MS = 30_000;
// The shares of workers that are started late, and whose command is given once more.
const LATE = 0.3;
const AGAIN = 0.3;

/** The processes that work on one run together, through a store that they share. */
export class WorkerGroup {
  readonly #world: World;
  readonly #store: SharedStore;
  readonly #connection: StoreConnection;
  readonly #command: Partial<RunCommand>;
  readonly #limits: LimitStore;
  readonly #leases: Leases;
  readonly #reservations: Reservations | null;
  readonly #pauses: Pauses;
  readonly #followers: readonly RequestFollower[];
  /** The answers that were committed, by their keys. */
  readonly #committed = new Map<string, string>();
  /** The answers of the exports so far, by the ids of their records. */
  readonly #exported = new Map<string, string>();
  /** The disks of the workers, by name. */
  readonly #disks = new Map<string, Disk>();
  /** The workers that have not ended. */
  readonly #names: Set<string>;

  private constructor(world: World, connection: StoreConnection, store: SharedStore) {
    const { plan } = world;
    const random = world.random("workers");
    this.#world = world;
    this.#store = store;
    this.#connection = connection;
    const { limit } = plan.service;
    const { workers, records } = plan;
    const concurrency = random.whole(1, 6);
    const repeats = new Repeats(world);
    this.#command = {
      concurrency,
      // Hardly more than the estimate, so that chunks are left when the budget is spent.
      maxCost: random.chance(0.4)
        ? estimateUsd(0, records) * (1 + random.magnitude(0.003, 0.3))
        : Infinity,
      ...(random.chance(0.5) && { rate: Math.ceil((limit?.perSecond ?? 10) * 60) }),
    };
    this.#pauses = new Pauses(world);
    this.#limits = this.#pauses.watch(memoryLimits({ clock: world.machineClock() }));
    const { maxCost = Infinity, rate } = this.#command;
    const isCapped = maxCost !== Infinity;
    this.#leases = new Leases(world, { concurrency, isCapped }, repeats);
    this.#reservations = isCapped
      ? new Reservations(world, { concurrency, maxUsd: maxCost })
      : null;
    this.#followers = [
      this.#leases,
      ...(this.#reservations === null ? [] : [this.#reservations]),
      new Spending(world, maxCost, concurrency * plan.workers),
      repeats,
      ...(rate === undefined ? [] : [this.#pauses]),
    ];
    const names = Array.from({ length: workers }, (_, at) => `worker ${at}`);
    this.#names = new Set(records === 0 ? [] : names);
    world.watch(this.#watchAnswers());
    // PGlite has one session, so that a reader would see what another one did not commit.
    if (plan.store === "memory") world.watch(this.#watchExport());
  }

  /** Opens the store of the workers. */
  static async open(world: World): Promise<WorkerGroup> {
    const faults = world.plan.faults.filter((fault) => fault.kind === "store");
    const connection = new StoreConnection(faults, world.random("store"));
    return new WorkerGroup(world, connection, await openStore(world, connection));
  }

  /** Closes the store. */
  async close(): Promise<void> {
    await this.#store.close();
  }

  /** The names of the workers that have not ended. */
  get names(): readonly string[] {
    return [...this.#names];
  }

  get isOver(): boolean {
    return this.#names.size === 0;
  }

  /** The work that is left. */
  get left() {
    const { concurrency = 1 } = this.#command;
    return { records: this.#world.plan.records - this.#committed.size, concurrency };
  }

  /** When they met a fault of the store last. */
  get faultMetAtMs(): number {
    return this.#connection.metAtMs;
  }

  /** Starts a worker, or starts it again after a kill. */
  start(name: string): void {
    if (!this.#names.has(name)) return;
    const world = this.#world;
    const clock = world.startProcess(name);
    clock.onDeath(() => {
      this.#leases.end(clock);
      this.#diskOf(name).release();
    });
    world.watch(this.#live({ world, name, clock }).then(() => this.#end(name)));
  }

  async #live(life: Pick<ProgramLife, "world" | "name" | "clock">): Promise<void> {
    const { world, name, clock } = life;
    const live = async () => {
      await untilDone(
        life,
        () => this.#run(name, clock),
        (end) => this.#isEnd(life, end),
      );
      this.#leases.end(clock);
    };
    await live();
    // Some people give the command once more when the run has ended.
    const random = world.random(`${name} once more`);
    if (isHelper(name) || !random.chance(AGAIN)) return;
    await clock.wait(random.magnitude(500, 60_000));
    await live();
  }

  /** Returns when a worker is started first, in milliseconds: some join a run that others work on, or that has ended. */
  startMs(name: string): number {
    const random = this.#world.random(`start of ${name}`);
    const isLate = name !== "worker 0" && random.chance(LATE);
    return isLate ? Math.round(random.between(0, this.#world.endMs)) : 0;
  }

  async #run(name: string, clock: ProcessClock): Promise<number> {
    const world = this.#world;
    const context = programContext({
      world,
      name,
      clock,
      disk: this.#diskOf(name),
      faults: new DiskFaults([], () => {}),
      mails: world.plan.records,
      openRuns: async (_url, { supervises }) => {
        const store = this.#leases.watch(await this.#store.openRuns(clock, supervises), clock);
        return this.#reservations?.watch(store, clock) ?? store;
      },
      openLimits: async () => this.#openLimits(name, clock),
      followers: this.#followers,
      isShared: true,
    });
    const command = runCommand(this.#command);
    const { file: _file, limit: _limit, format: _format, ...work } = command;
    const load = isHelper(name)
      ? loadWork({ ...work, run: 1 }, context)
      : loadRun(command, context);
    const run = await clock.time.outside(load);
    return await run();
  }

  /** A committed answer stays as it is. */
  async #watchAnswers(): Promise<void> {
    const { time, checks } = this.#world;
    for (const [key, digest] of await this.#store.digests()) {
      const known = this.#committed.get(key) ?? digest;
      checks.expect("nothing-lost", known === digest, () => "a committed answer was replaced");
      this.#committed.set(key, digest);
    }
    if (this.isOver) return;
    time.schedule(WATCH_MS, () => this.#world.watch(this.#watchAnswers()));
  }

  /** An export in the middle of the run is in order, and has each answer that an earlier one had. */
  async #watchExport(): Promise<void> {
    const { time, checks } = this.#world;
    const records = await this.#readRows();
    checkKept(this.#world, "an export of the run", { records, isComplete: false });
    for (const { id, evaluation } of records) {
      const known = this.#exported.get(id) ?? evaluation;
      checks.expect("nothing-lost", known === evaluation, () => `${id} lost its answer`);
      if (evaluation !== null) this.#exported.set(id, evaluation);
    }
    if (this.isOver) return;
    time.schedule(EXPORT_MS, () => this.#world.watch(this.#watchExport()));
  }

  async #readRows(): Promise<KeptRecord[]> {
    await using runs = await this.#store.openReader();
    const rows: KeptRecord[] = [];
    if ((await runs.list()).length === 0) return rows;
    for await (const row of runs.rows(1)) rows.push(row);
    return rows;
  }

  #openLimits(name: string, clock: ProcessClock) {
    const { time, trace } = this.#world;
    const onMissed = () => {
      trace.add(time.nowMs, name, "misses a pause");
      this.#pauses.missed(clock);
    };
    const limits = distantLimits(this.#limits, { connection: this.#connection, clock, onMissed });
    return { ...limits, [Symbol.asyncDispose]: async () => {} };
  }

  #isEnd(
    { name, clock }: { readonly name: string; readonly clock: ProcessClock },
    end: number | CliError,
  ): boolean {
    if (typeof end === "number" || end.message.includes("--max-cost")) return true;
    this.#leases.end(clock);
    // A run that may not cost its estimate is never loaded.
    return isHelper(name) && this.names.every(isHelper);
  }

  #end(name: string): void {
    this.#names.delete(name);
    this.#world.processes.delete(name);
    const file = this.#diskOf(name).names.get(RESULTS);
    if (file !== undefined) checkResults(this.#world, file.bytes.toString(), null);
  }

  #diskOf(name: string): Disk {
    const disk = this.#disks.get(name) ?? new Disk(this.#world.random(`disk of ${name}`));
    this.#disks.set(name, disk);
    return disk;
  }

  /** Checks what the store has at the end. */
  async check(): Promise<void> {
    const { checks, plan } = this.#world;
    if (plan.workers === 0 || plan.records === 0) return;
    await using runs = await this.#store.openReader();
    const [info] = await runs.list();
    const rows = await this.#readRows();
    const answered = rows.filter(({ evaluation }) => evaluation !== null);
    this.#world.tallies.of("worker").distinct += answered.length;
    const isComplete = info?.stoppedBy?.includes("--max-cost") !== true;
    const costUsd = checkKept(this.#world, "the run", { records: rows, isComplete });
    if (info === undefined) return;
    const isTold = info.costUsd !== null && isSame(info.costUsd, costUsd);
    checks.expect(
      "money",
      isTold,
      () => `the run tells ${info.costUsd} dollars and not ${costUsd}`,
    );
  }
}

/** The first worker loads the run; of the others, some only help. */
function isHelper(name: string): boolean {
  return Number(name.split(" ")[1]) % 3 === 2;
}
