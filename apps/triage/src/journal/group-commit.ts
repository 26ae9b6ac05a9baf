import { setImmediate } from "node:timers/promises";

/**
 * The most changes in a group. Calls that are answered in one group send their successors in one
 * group, and are answered together again: small groups keep them apart, so that most of them are
 * under way while the disk works (benchmark: triage).
 */
const GROUP_SIZE = 4;

interface Waiting<TChange> extends PromiseWithResolvers<void> {
  readonly change: TChange;
}

/** Puts changes on the disk in groups of those that wait, since each group costs one wait for it. */
export class GroupCommit<TChange> {
  readonly #commit: (changes: readonly TChange[]) => void;
  readonly #waiting: Waiting<TChange>[] = [];
  #isCommitting = false;

  /** @param commit - Puts changes on the disk, all or none. */
  constructor(commit: (changes: readonly TChange[]) => void) {
    this.#commit = commit;
  }

  /** Resolves when the change is on the disk; rejects when its whole group is not. */
  async add(change: TChange): Promise<void> {
    const waiting = { change, ...Promise.withResolvers<void>() };
    this.#waiting.push(waiting);
    if (!this.#isCommitting) void this.#commitAll();
    await waiting.promise;
  }

  async #commitAll(): Promise<void> {
    this.#isCommitting = true;
    while (this.#waiting.length > 0) {
      await setImmediate(); // what else comes in this turn of the event loop may join
      this.#commitGroup(this.#waiting.splice(0, GROUP_SIZE));
    }
    this.#isCommitting = false;
  }

  #commitGroup(group: readonly Waiting<TChange>[]): void {
    try {
      this.#commit(group.map(({ change }) => change));
      for (const { resolve } of group) resolve();
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }
}
