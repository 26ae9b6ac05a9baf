/** How many groups are on their way to the disk at once, so that it never waits for the next. */
const GROUPS_AT_ONCE = 4;

/**
 * Which share of the waiting changes makes a group. Calls that are answered in one group send their
 * successors in one group, and are answered together again: small groups keep them apart, and grow
 * where the disk is slow (benchmark: triage).
 */
const GROUP_SHARE = 1 / 8;

interface Waiting<TChange> extends PromiseWithResolvers<void> {
  readonly change: TChange;
}

/** Puts changes on the disk in groups when many wait, since each group costs one wait for it. */
export class GroupCommit<TChange> {
  readonly #commit: (changes: readonly TChange[]) => Promise<void>;
  readonly #waiting: Waiting<TChange>[] = [];
  #groupsUnderWay = 0;

  /** @param commit - Puts changes on the disk, all or none. */
  constructor(commit: (changes: readonly TChange[]) => Promise<void>) {
    this.#commit = commit;
  }

  /** Resolves when the change is on the disk; rejects when its whole group is not. */
  async add(change: TChange): Promise<void> {
    const waiting = { change, ...Promise.withResolvers<void>() };
    this.#waiting.push(waiting);
    this.#beginGroups();
    await waiting.promise;
  }

  #beginGroups(): void {
    while (this.#waiting.length > 0 && this.#groupsUnderWay < GROUPS_AT_ONCE) {
      const size = Math.ceil(this.#waiting.length * GROUP_SHARE);
      void this.#commitGroup(this.#waiting.splice(0, size));
    }
  }

  async #commitGroup(group: readonly Waiting<TChange>[]): Promise<void> {
    this.#groupsUnderWay += 1;
    try {
      await this.#commit(group.map(({ change }) => change));
      for (const { resolve } of group) resolve();
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
    this.#groupsUnderWay -= 1;
    this.#beginGroups();
  }
}
