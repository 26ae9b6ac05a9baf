import type { LeasedChunk } from "evaluator-runs/postgres";
import type { KeptEnds } from "./rows.ts";

// As pg-boss is configured for PostgreSQL.
const HEARTBEAT_MS = 10_000;
const LONGEST_LEASE_MS = 86_400_000;
const MONITOR_MS = 1000;

interface Job {
  readonly id: string;
  readonly chunk: number;
  state: "free" | "active" | "completed";
  retryCount: number;
  startedOn: number | null;
  heartbeatOn: number;
}

interface Queue {
  /** When a session last looked for dead workers, by the clock of the store. */
  monitoredOn: number | null;
  /** In the order in which they are handed out. */
  jobs: readonly Job[];
}

/** The chunks of runs as jobs, with the rules of pg-boss; times are those of the store's clock. */
export class ChunkJobs {
  readonly #newId: () => string;
  readonly #queues = new Map<number, Queue>();

  constructor(newId: () => string) {
    this.#newId = newId;
  }

  /** Makes the queue of a run, if it is missing. */
  prepare(run: number): void {
    if (!this.#queues.has(run)) this.#queues.set(run, { monitoredOn: null, jobs: [] });
  }

  /** Removes the jobs of some chunks of a run, also those that workers have; null: all of them. */
  clear(run: number, chunks: readonly number[] | null): void {
    const queue = this.#queueOf(run);
    queue.jobs = queue.jobs.filter(({ chunk }) => chunks !== null && !chunks.includes(chunk));
  }

  /** Adds jobs of a run. */
  add(run: number, chunks: readonly number[]): void {
    const toJob = (chunk: number): Job => {
      const id = this.#newId();
      return { id, chunk, state: "free", retryCount: 0, startedOn: null, heartbeatOn: 0 };
    };
    const queue = this.#queueOf(run);
    const jobs = [...queue.jobs, ...chunks.map(toJob)];
    queue.jobs = jobs.toSorted((one, other) => one.chunk - other.chunk);
  }

  /** Hands out the first free job of a run; null without one. */
  fetch(run: number, nowMs: number): LeasedChunk | null {
    const job = this.#queueOf(run).jobs.find(({ state }) => state === "free");
    if (job === undefined) return null;
    if (job.startedOn !== null) job.retryCount += 1;
    Object.assign(job, { state: "active", startedOn: nowMs, heartbeatOn: nowMs });
    const { id, chunk, retryCount } = job;
    return { run, chunk, lease: { id, retryCount } };
  }

  /** Renews a lease; returns whether it was held. */
  touch(leased: LeasedChunk, nowMs: number): boolean {
    const job = this.#heldBy(leased);
    if (job !== undefined) job.heartbeatOn = nowMs;
    return job !== undefined;
  }

  /** Returns which leases are held, of those that come with the ends of calls. */
  held(ends: KeptEnds): readonly string[] {
    const leases = JSON.parse(ends[16]) as LeasedChunk["lease"][];
    const held = leases.filter((lease) => this.#heldBy({ run: ends[0], chunk: 0, lease }));
    return held.map(({ id }) => id);
  }

  /** Completes a job or makes it free, if the lease is still held. */
  end(leased: LeasedChunk, isWhole: boolean): void {
    const job = this.#heldBy(leased);
    if (job !== undefined) job.state = isWhole ? "completed" : "free";
  }

  /** Frees the jobs of dead workers, if no session has done so in the last second. */
  supervise(nowMs: number): void {
    for (const queue of this.#queues.values()) {
      if (queue.monitoredOn !== null && nowMs - queue.monitoredOn < MONITOR_MS) continue;
      queue.monitoredOn = nowMs;
      for (const job of queue.jobs) if (isDead(job, nowMs)) job.state = "free";
    }
  }

  /** Forgets times in the future, after the clock of the store went back. */
  forgetFuture(run: number, nowMs: number): void {
    const queue = this.#queueOf(run);
    if (queue.monitoredOn === null || queue.monitoredOn <= nowMs) return;
    queue.monitoredOn = null;
    for (const job of queue.jobs) job.heartbeatOn = Math.min(job.heartbeatOn, nowMs);
  }

  #heldBy({ run, lease }: LeasedChunk): Job | undefined {
    return this.#queueOf(run).jobs.find(
      ({ id, state, retryCount }) =>
        id === lease.id && state === "active" && retryCount === lease.retryCount,
    );
  }

  #queueOf(run: number): Queue {
    const queue = this.#queues.get(run);
    if (queue === undefined) throw new Error(`There is no queue for run ${run}.`);
    return queue;
  }
}

function isDead({ state, startedOn, heartbeatOn }: Job, nowMs: number): boolean {
  const endsOn = Math.min(heartbeatOn + HEARTBEAT_MS, (startedOn ?? 0) + LONGEST_LEASE_MS);
  return state === "active" && endsOn < nowMs;
}
