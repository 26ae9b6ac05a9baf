/** What a group of processes asked, and how much of it was needed. */
export interface Tally {
  /** Requests that arrived at a service. */
  asked: number;
  /** Requests whose callers got a good answer in time. */
  used: number;
  /** Answers that calls ended with, or that are committed. */
  distinct: number;
  /** Calls that were in flight when their process died or lost its lease. */
  cutOff: number;
}

/** The tallies of all groups: clients, workers and the journal. */
export class Tallies {
  readonly #groups = new Map<string, Tally>();

  /** Returns the tally of the group of a process, such as "worker 2". */
  of(process: string): Tally {
    const [group = ""] = process.split(" ");
    const tally = this.#groups.get(group) ?? { asked: 0, used: 0, distinct: 0, cutOff: 0 };
    this.#groups.set(group, tally);
    return tally;
  }

  /** Returns the sum over all groups. */
  get sum(): Tally {
    const sum = { asked: 0, used: 0, distinct: 0, cutOff: 0 };
    for (const tally of this.#groups.values()) {
      for (const name of ["asked", "used", "distinct", "cutOff"] as const) sum[name] += tally[name];
    }
    return sum;
  }

  [Symbol.iterator]() {
    return this.#groups.entries();
  }
}

/** Returns how many requests may come on top of `distinct`: retries, and calls that were cut off. */
export function boundOf({ asked, used, cutOff }: Tally): number {
  return asked - used + cutOff;
}
