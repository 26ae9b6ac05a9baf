import type { SQLOutputValue, StatementSync } from "node:sqlite";
import { CliError } from "evaluator-kit";
import { loadRun, type RunCommand } from "evaluator-runs/commands";
import { Disk } from "../disk/disk.ts";
import { DiskFaults } from "../disk/disk-faults.ts";
import type { World } from "../world.ts";
import { checkKept, checkResults, type KeptRecord } from "./kept-answers.ts";
import { JournalCalls } from "./journal-calls.ts";
import { estimateUsd, idOf, mailOf, REPEATED_AFTER, timesIn } from "./mail-source.ts";
import { Repeats } from "./repeats.ts";
import { Spending } from "./spending.ts";
import { programContext, type ProgramLife, RESULTS, runCommand, untilDone } from "./program.ts";

const JOURNAL = "/simulation/mails.simulated.sqlite";
// The input grows, so that results are written several times.
const ROUNDS = 6;

/** A process that runs alone over a growing file, with a journal in SQLite. */
export class JournalProcess {
  readonly #world: World;
  readonly #disk: Disk;
  readonly #command: Partial<RunCommand>;
  readonly #faults: DiskFaults;
  readonly #repeats: Repeats;
  /** The calls of the run under way, or of the last one. */
  #calls: JournalCalls | null = null;
  #round = 0;
  /** The answers of the service when a run was complete last. */
  #billedBefore = 0;
  isOver = false;

  constructor(world: World) {
    const random = world.random("journal");
    this.#world = world;
    this.#repeats = new Repeats(world);
    this.#disk = new Disk(world.random("disk"));
    const faults = world.plan.faults.filter((fault) => fault.kind === "disk");
    this.#faults = new DiskFaults(faults, (fault) => {
      world.kill("journal", "backAfterMs" in fault ? fault.backAfterMs : 0);
      this.#disk.losePower();
    });
    const concurrency = random.pick([1, 1, 2, 3, 4, 6] as const);
    const first = estimateUsd(0, this.#mailsOf(0));
    const maxCost = random.chance(0.6) ? first * random.between(1.02, 1.3) : Infinity;
    this.#command = { concurrency, maxCost };
    this.isOver = world.plan.records === 0;
  }

  /** The work that is left. */
  get left() {
    const { concurrency = 1 } = this.#command;
    const ended = this.#world.plan.records === 0 ? [] : [...this.#ended().values()];
    const records = this.#world.plan.records - ended.reduce((sum, times) => sum + times, 0);
    return { records, concurrency };
  }

  /** When it met a fault of its disk last. */
  get faultMetAtMs(): number {
    return this.#faults.metAtMs;
  }

  /** Starts the process, or starts it again after a kill. */
  start(name: string): void {
    if (name !== "journal" || this.isOver) return;
    const world = this.#world;
    const clock = world.startProcess(name);
    clock.onDeath(() => this.#disk.release());
    world.watch(this.#live({ world, name, clock }));
  }

  async #live(life: Pick<ProgramLife, "world" | "name" | "clock">): Promise<void> {
    this.#checkFile(null);
    for (; this.#round < ROUNDS; this.#round += 1) {
      const mails = this.#mailsOf(this.#round);
      await untilDone(life, () => this.#run(life, mails), isEnd);
      await life.clock.wait(1000);
    }
    this.isOver = true;
  }

  /** What the service charged for since a run was complete, in US dollars. */
  #billedUsd(): number {
    return [...this.#world.service.costs.values()]
      .slice(this.#billedBefore)
      .reduce((sum, { usd, caller }) => sum + (caller === "journal" ? usd : 0), 0);
  }

  /** Returns what the journal has of tries since a run was complete: their cost, and the calls without an end. */
  #earlier() {
    const tables = this.#select("SELECT 1 FROM sqlite_master WHERE name = 'runs'");
    if (tables.length === 0) return { usd: 0, begun: 0 };
    const [row] = this.#select(
      `SELECT total(facts ->> 'spentUsd') AS usd, (SELECT count(*) FROM begun) AS begun FROM runs
        WHERE run > (SELECT coalesce(max(run), 0) FROM runs WHERE facts ->> 'finishedAt' IS NOT NULL)`,
    );
    return { usd: Number(row?.["usd"]), begun: Number(row?.["begun"]) };
  }

  #mailsOf(round: number): number {
    return Math.ceil((this.#world.plan.records * (round + 1)) / ROUNDS);
  }

  async #run(life: Pick<ProgramLife, "world" | "name" | "clock">, mails: number): Promise<number> {
    const { world, clock } = life;
    const { maxCost = Infinity, concurrency = 1 } = this.#command;
    this.#cutOff();
    const isBegun = this.#openBegun();
    const earlier = this.#earlier();
    const tries = { earlier, billedUsd: () => this.#billedUsd() };
    const calls = new JournalCalls({ world, maxUsd: maxCost, isBegun, ...tries });
    this.#calls = calls;
    const context = programContext({
      ...life,
      mails,
      disk: this.#disk,
      faults: this.#faults,
      openRuns: isUnused,
      openLimits: isUnused,
      followers: [new Spending(world, maxCost, concurrency), calls, this.#repeats],
      isShared: false,
    });
    const askedBefore = world.service.costs.size;
    const command = runCommand(this.#command);
    const run = await clock.time.outside(loadRun(command, context));
    const exitCode = await run().catch((error: unknown) => {
      if (error instanceof CliError && error.message.includes("--max-cost")) calls.stopped();
      throw error;
    });
    this.#checkRun(askedBefore);
    this.#billedBefore = world.service.costs.size;
    return exitCode;
  }

  /** Calls of the last run without an end in the journal may be asked again: those that were in flight. */
  #cutOff(): void {
    const { tallies, checks } = this.#world;
    const { concurrency = 1 } = this.#command;
    if (this.#calls === null) return;
    const ended = this.#ended();
    let [open, left] = [0, 0];
    for (const mail of this.#calls.asked) {
      const times = ended.get(mail) ?? 0;
      this.#repeats.cutOff(mail, timesIn(mail) - times);
      // The second record of a mail may not be asked about yet.
      open += Number(times === 0);
      left += timesIn(mail) - times;
    }
    const seen = () => `${open} calls of ${concurrency} at once have no end in the journal`;
    checks.expect("asked", open <= concurrency, seen);
    tallies.of("journal").cutOff += Math.min(concurrency, left);
  }

  /** Returns how many records of each mail have an answer or a failure. */
  #ended(): Map<number, number> {
    const counts = new Map<number, number>();
    // A power loss that took the tables took all answers.
    const tables = this.#select("SELECT 1 FROM sqlite_master WHERE name = 'records'");
    if (tables.length === 0) return counts;
    const sql = `SELECT id FROM records LEFT JOIN answers USING (call)
      WHERE error IS NOT NULL OR evaluation IS NOT NULL`;
    for (const { id } of this.#select(sql)) {
      const mail = mailOf(numberOf(String(id)));
      counts.set(mail, (counts.get(mail) ?? 0) + 1);
    }
    return counts;
  }

  /** After a complete run: its records, its results, and the cost that it told. */
  #checkRun(askedBefore: number): void {
    const { checks } = this.#world;
    const records = this.#records();
    checkKept(this.#world, "the journal", { records, isComplete: true });
    this.#checkFile(records);
    const [run] = this.#select("SELECT facts FROM runs ORDER BY run DESC LIMIT 1");
    const { costUsd } = JSON.parse(String(run?.["facts"])) as { readonly costUsd: number };
    const ids = new Set(records.map(({ evaluation }) => idIn(evaluation)));
    const spentUsd = [...this.#world.service.costs]
      .slice(askedBefore)
      .filter(([id, { caller }]) => caller === "journal" && ids.has(id))
      .reduce((sum, [, { usd }]) => sum + usd, 0);
    // Lost attempts count as their estimates, which are within a quarter of the service's.
    const lostUsd = 1.25 * (this.#calls?.lostUsd ?? 0);
    const isTold = costUsd >= spentUsd - 1e-12 && costUsd <= spentUsd + lostUsd + 1e-12;
    checks.expect("money", isTold, () => `a run tells ${costUsd} dollars and not ${spentUsd}`);
  }

  /** The file of results is whole at any time. */
  #checkFile(records: readonly KeptRecord[] | null): void {
    const file = this.#disk.names.get(RESULTS);
    if (file !== undefined) checkResults(this.#world, file.bytes.toString(), records);
  }

  #records(): KeptRecord[] {
    const rows = this.#select(
      `SELECT id, state, evaluation, error FROM records LEFT JOIN answers USING (call)`,
    );
    const records = rows as unknown as KeptRecord[];
    return records.toSorted((one, other) => numberOf(one.id) - numberOf(other.id));
  }

  #openBegun(): (mail: number) => boolean {
    const sql = "SELECT 1 FROM begun JOIN records USING (call) WHERE id IN (?, ?)";
    let ofMail: StatementSync | null = null;
    return (mail) => {
      ofMail ??= this.#disk.databaseAt(JOURNAL).database.prepare(sql);
      return ofMail.get(idOf(mail), idOf(mail + REPEATED_AFTER)) !== undefined;
    };
  }

  #select(sql: string): Record<string, SQLOutputValue>[] {
    return this.#disk.databaseAt(JOURNAL).database.prepare(sql).all();
  }

  /** Counts the answers. */
  count(): void {
    if (this.#world.plan.records === 0) return;
    const answered = this.#records().filter(({ evaluation }) => evaluation !== null);
    this.#world.tallies.of("journal").distinct += answered.length;
  }
}

function isEnd(end: number | CliError): boolean {
  // A run that spent its budget asks nothing more, however often it is started.
  return typeof end === "number" || end.message.includes("--max-cost");
}

async function isUnused(): Promise<never> {
  throw new Error("A journal in a file needs no database.");
}

function numberOf(id: string): number {
  return Number(id.slice("mail-".length));
}

function idIn(evaluation: string | null): string {
  return evaluation === null
    ? ""
    : ((JSON.parse(evaluation) as { requestId: string | null }).requestId ?? "");
}
