import { setImmediate } from "node:timers/promises";

/**
 * Puts changes on the disk in groups, since each group costs one wait for it: all that comes in one
 * turn of the event loop is one group.
 */
export class GroupCommit<TChange> {
  readonly #commit: (changes: readonly TChange[]) => void;
  #changes: TChange[] = [];
  #group: Promise<void> | null = null;

  /** @param commit - Puts changes on the disk, all or none. */
  constructor(commit: (changes: readonly TChange[]) => void) {
    this.#commit = commit;
  }

  /** Resolves when the change is on the disk; rejects when its whole group is not. */
  async add(change: TChange): Promise<void> {
    this.#changes.push(change);
    this.#group ??= this.#commitSoon();
    await this.#group;
  }

  async #commitSoon(): Promise<void> {
    await setImmediate();
    const changes = this.#changes;
    this.#changes = [];
    this.#group = null;
    this.#commit(changes);
  }
}
