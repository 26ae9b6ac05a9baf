import process from "node:process";
import type { Plan } from "./plan/plan.ts";
import { playPlan, type Played } from "./simulate.ts";

const MOST_TRIES = 200;
const MOST_CPU_MS = 60_000;
// Load goes on for a while after the break, so that the plan is not cut at its last event.
const AFTER_MS = 2000;

/** Makes a failing plan smaller, as long as the same property does not hold. */
export class Shrinker {
  #smallest: Played;
  #tries = 0;
  readonly #startedAt = process.cpuUsage();
  readonly #play: typeof playPlan;

  constructor(failed: Played, play = playPlan) {
    this.#smallest = failed;
    this.#play = play;
  }

  /** Removes faults, processes, records and minutes; returns the smallest plan that still fails. */
  async shrink(): Promise<Played> {
    const atMs = this.#smallest.first?.atMs ?? Infinity;
    await this.#try({ minutes: Math.min(this.#plan.minutes, (atMs + AFTER_MS) / 60_000) });
    await this.#removeFaults();
    for (const name of ["workers", "clients", "records"] as const) await this.#reduce(name);
    while (await this.#try({ minutes: this.#plan.minutes / 2 }));
    await this.#removeFaults();
    return this.#smallest;
  }

  get #plan(): Plan {
    return this.#smallest.plan;
  }

  /** Removes halves of the faults, then quarters, and so on, then single ones. */
  async #removeFaults(): Promise<void> {
    let size = Math.ceil(this.#plan.faults.length / 2);
    while (size > 0) {
      let isSmaller = false;
      for (let at = 0; at < this.#plan.faults.length;) {
        const faults = this.#plan.faults.toSpliced(at, size);
        if (await this.#try({ faults })) isSmaller = true;
        else at += size;
      }
      if (!isSmaller || size > 1) size = size === 1 ? 0 : Math.ceil(size / 2);
    }
  }

  /** Takes half of a number again and again, then one less. */
  async #reduce(name: "workers" | "clients" | "records"): Promise<void> {
    const count = () => this.#plan[name];
    while (count() > 0 && (await this.#try({ [name]: Math.floor(count() / 2) })));
    while (count() > 0 && (await this.#try({ [name]: count() - 1 })));
  }

  /** Plays a changed plan; keeps it if the same property is broken. */
  async #try(changes: Partial<Plan>): Promise<boolean> {
    const { user, system } = process.cpuUsage(this.#startedAt);
    this.#tries += 1;
    if (this.#tries > MOST_TRIES || (user + system) / 1000 > MOST_CPU_MS) return false;
    const plan = { ...this.#plan, ...changes };
    const endMs = plan.minutes * 60_000;
    const faults = plan.faults.filter(({ atMs }) => atMs <= endMs);
    const played = await this.#play({ ...plan, faults });
    const isSame = played.first?.property === this.#smallest.first?.property;
    if (isSame) this.#smallest = played;
    return isSame;
  }
}
