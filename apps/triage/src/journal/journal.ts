import type { Evaluation, JsonValue } from "evaluator-client";
import { Thread } from "../thread/thread.ts";
import { type CallSetup, setupHash } from "./call-setup.ts";
import type {
  CallStatus,
  EndedCall,
  JournalStore,
  MailEntry,
  StoredEnd,
  StoreOptions,
} from "./journal-store.ts";
import { GroupCommit } from "./group-commit.ts";
import { fromKeptText, type KeptEvaluation, toKeptText } from "./kept-evaluation.ts";

const threadFile = new URL("journal-thread.ts", import.meta.url);

/** How many answers are read at once. */
const READ_AT_ONCE = 500;

/** How the call about a mail ended: with an answer about its state, or with an error. */
export type CallEnd = MailEntry &
  ({ readonly state: JsonValue; readonly evaluation: Evaluation } | { readonly error: string });

/**
 * Keeps every answer on the disk before anything else happens with it, for one process at a time.
 * The disk is waited for in a thread of its own, so that calls go on meanwhile (benchmark: triage).
 *
 * All methods throw a TriageError when the disk or the file fails.
 */
export class Journal implements AsyncDisposable {
  readonly #setup: CallSetup;
  readonly #store: Thread<JournalStore>;
  readonly #ends = new GroupCommit<EndedCall>((calls) => this.#store.call("end", calls));

  private constructor(setup: CallSetup, store: Thread<JournalStore>) {
    this.#setup = setup;
    this.#store = store;
  }

  /**
   * Opens a journal, or makes it.
   *
   * @param setup - What this run asks, of whom; an answer to anything else is another answer.
   */
  static async open(path: string, setup: CallSetup): Promise<Journal> {
    const { wire, modelId } = setup.service;
    const questions = JSON.stringify(setup.questions);
    const stored = { hash: setupHash(setup), wire, model: modelId, questions };
    const options: StoreOptions = { path, setup: stored };
    return new Journal(setup, await Thread.start<JournalStore>(threadFile, options));
  }

  /** Notes in one step which mail of the input has its answer where. */
  async place(entries: readonly MailEntry[]): Promise<void> {
    await this.#store.call("place", entries);
  }

  /** Says of each answer whether it is there as it was written, and if not, whether it was asked for. */
  async statusesOf(keys: readonly string[]): Promise<CallStatus[]> {
    return await this.#store.call("statusesOf", keys);
  }

  /** Gives each entry in order with its kept answer: null when it is not there as it was written. */
  async *read<TEntry extends { readonly key: string }>(
    entries: readonly TEntry[],
  ): AsyncGenerator<[TEntry, KeptEvaluation | null], void> {
    for (let start = 0; start < entries.length; start += READ_AT_ONCE) {
      const some = entries.slice(start, start + READ_AT_ONCE);
      const texts = await this.#store.call(
        "read",
        some.map(({ key }) => key),
      );
      for (const [index, entry] of some.entries()) yield [entry, this.#parse(texts[index] ?? null)];
    }
  }

  /** Notes which calls begin. */
  async begin(keys: readonly string[]): Promise<void> {
    await this.#store.call("begin", keys);
  }

  /**
   * Keeps how a call ended and notes in the same step which call takes its place; resolves when
   * both are on the disk.
   */
  async end(end: CallEnd, nextKey: string | null): Promise<void> {
    await this.#ends.add({ end: toStored(end), nextKey });
  }

  /** Adds the facts of a run that has ended. */
  async addRun(facts: object): Promise<void> {
    await this.#store.call("addRun", JSON.stringify(facts));
  }

  /** Lets go of the file. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store.close();
  }

  #parse(text: string | null): KeptEvaluation | null {
    return text === null ? null : fromKeptText(text, this.#setup.questions);
  }
}

function toStored(end: CallEnd): StoredEnd {
  if ("error" in end) return end;
  const { id, key, state, evaluation } = end;
  return { id, key, state: JSON.stringify(state), evaluation: toKeptText(evaluation) };
}
