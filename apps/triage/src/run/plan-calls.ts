import { hash } from "node:crypto";
import { type CostEstimate, estimateCost, type EvaluationRequest } from "evaluator-client";
import { DIGEST_BYTES, DigestTable, NumberList, RepeatFinder } from "../input/digests.ts";
import { changedInput, type InputMail } from "../input/mail-file.ts";
import { type Mail, toNote } from "../input/mail.ts";
import type { NotedMail } from "../journal/journal.ts";
import { callKey, type CallStatus, repeatedKey, setupHash } from "../journal/kept-answer.ts";
import type { RunContext } from "./run-context.ts";
import { StateAdditions } from "./state-additions.ts";

/** Mails planned at once: each group waits for the disk once. Chosen, not measured. */
const GROUP_SIZE = 500;
const allStatuses: readonly CallStatus[] = ["unknown", "answered", "refused", "begun", "changed"];
/** Beyond these a repeated state is looked for in a pass of its own, in less memory. Chosen. */
const COUNTED_AT_MOST = 1_000_000;
const noPrice = { inputUsdPerMillionTokens: 0 };

/** One mail, and where its answer is kept. */
export interface PlannedCall extends InputMail {
  readonly key: string;
  readonly status: CallStatus;
}

/** What planning needs. */
export interface PlanOptions {
  /** Where answers are looked up; null when there is none yet. */
  readonly journal: {
    readonly statusesOf: (
      keys: readonly string[],
    ) => readonly CallStatus[] | Promise<readonly CallStatus[]>;
  } | null;
  /** Notes which mail has its answer where. @default nothing is noted */
  readonly noteMails?: (entries: readonly NotedMail[]) => void;
}

/** Finds out for each mail, in input order, whether its answer is already there. */
export async function planCalls(
  context: RunContext,
  { journal, noteMails }: PlanOptions,
): Promise<CallPlan> {
  const { input, run, signal } = context;
  const plan = new CallPlan(context, await findRepeats(context));
  for await (const mails of inGroups(input.mails(run.limit), GROUP_SIZE)) {
    signal.throwIfAborted();
    const keys = plan.addKeys(mails, plan.length);
    const entries = mails.map(({ mail }, at) => {
      return { id: mail.id, key: keys[at] ?? "", note: toNote(mail) };
    });
    const statuses = await journal?.statusesOf(entries.map(({ key }) => key));
    for (const [at, mail] of mails.entries()) plan.addStatus(mail, statuses?.[at] ?? "unknown");
    noteMails?.(entries);
  }
  return plan;
}

/** Returns how often a state has come before, by the index of its mail; null for few mails, which are counted as they come. */
async function findRepeats(context: RunContext): Promise<ReadonlyMap<number, number> | null> {
  const { input, run, signal } = context;
  if (Math.min(input.length, run.limit) <= COUNTED_AT_MOST) return null;
  const setup = setupHash(context);
  using finder = new RepeatFinder();
  for await (const { mail } of input.mails(run.limit)) {
    signal.throwIfAborted();
    finder.add(digestOf(callKey(setup, JSON.stringify(context.toState(mail)))));
  }
  return new Map(Array.from(finder.repeats(), ({ index, repeat }) => [index, repeat]));
}

/** The calls of a run: statuses, and no mail and no key, since an input may be larger than memory. */
export class CallPlan {
  readonly #context: RunContext;
  readonly #setup: string;
  readonly #counted: { keys: DigestTable; counts: NumberList } | null;
  readonly #repeats: Map<number, number>;
  readonly #statuses: Uint8Array;
  #length = 0;
  /** Of the keys of each group, which show that the input has not changed. */
  readonly #digests: Buffer[] = [];
  readonly #counts = { unknown: 0, answered: 0, refused: 0, begun: 0, changed: 0 };
  #missing = { calls: 0, inputTokens: 0 };
  /** What a dry run counts beside the calls; null for any other run. */
  readonly additions: StateAdditions | null;

  /** @param repeats - By the index of a mail, how often its state has come before; null to count it. */
  constructor(context: RunContext, repeats: ReadonlyMap<number, number> | null) {
    this.#context = context;
    this.#setup = setupHash(context);
    this.additions = context.run.dryRun ? new StateAdditions(context) : null;
    const length = Math.min(context.input.length, context.run.limit);
    this.#counted =
      repeats === null
        ? { keys: new DigestTable(DIGEST_BYTES, length), counts: new NumberList(length) }
        : null;
    this.#repeats = new Map(repeats ?? []);
    this.#statuses = new Uint8Array(length);
  }

  /** How many calls there are. */
  get length(): number {
    return this.#length;
  }

  /** How many calls are to be made. */
  get open(): number {
    return this.#length - this.#counts.answered - this.#counts.refused;
  }

  /** What is to be asked, estimated: calls of the model, and their input tokens. */
  get missing(): Readonly<Pick<CostEstimate, "calls" | "inputTokens">> {
    return this.#missing;
  }

  /** Returns how many calls have a status. */
  count(status: CallStatus): number {
    return this.#counts[status];
  }

  /** Adds the calls about the next group of mails, and returns their keys. */
  addKeys(group: readonly InputMail[], start: number): string[] {
    const keys = group.map((input) => this.#keyOf(input));
    this.#digests.push(digestOfAll(keys));
    for (const [at, key] of keys.entries()) this.#countRepeat(start + at, key);
    return keys.map((key, at) => this.#repeatedKey(start + at, key));
  }

  /** Adds the status of the next call that has a key. */
  addStatus({ mail }: InputMail, status: CallStatus): void {
    this.#statuses[this.#length] = allStatuses.indexOf(status);
    this.#length += 1;
    this.#counts[status] += 1;
    this.additions?.add(mail);
    if (isEnded({ status })) return;
    const { transport } = this.#context;
    const request = requestFor(this.#context, mail);
    const { calls, inputTokens } = estimateCost([request], { ...noPrice, transport });
    this.#missing.calls += calls;
    this.#missing.inputTokens += inputTokens;
  }

  /**
   * Returns all calls in order, and reads their mails anew.
   *
   * @throws CliError when a mail is no longer the one that was planned.
   */
  async *calls(): AsyncGenerator<PlannedCall, undefined> {
    const { input, inputPath } = this.#context;
    let at = 0;
    for await (const group of inGroups(input.mails(this.length), GROUP_SIZE)) {
      const keys = group.map((found) => this.#keyOf(found));
      if (this.#digests[at / GROUP_SIZE]?.equals(digestOfAll(keys)) !== true) {
        throw changedInput(inputPath);
      }
      for (const [index, found] of group.entries()) {
        const key = this.#repeatedKey(at, keys[index] ?? "");
        const status = allStatuses[this.#statuses[at] ?? 0] ?? "unknown";
        yield { ...found, key, status };
        at += 1;
      }
    }
  }

  #countRepeat(at: number, key: string): void {
    if (this.#counted === null) return;
    const { keys, counts } = this.#counted;
    const repeat = counts.increase(keys.add(digestOf(key)));
    if (repeat > 0) this.#repeats.set(at, repeat);
  }

  #repeatedKey(at: number, key: string): string {
    return repeatedKey(key, this.#repeats.get(at) ?? 0);
  }

  #keyOf({ mail }: InputMail): string {
    return callKey(this.#setup, JSON.stringify(this.#context.toState(mail)));
  }
}

/** Returns whether a call is not made again. */
export function isEnded({ status }: Pick<PlannedCall, "status">): boolean {
  return status === "answered" || status === "refused";
}

function digestOf(key: string): Buffer {
  return Buffer.from(key, "base64url").subarray(0, DIGEST_BYTES);
}

function digestOfAll(keys: readonly string[]): Buffer {
  return hash("sha256", keys.join("\n"), "buffer");
}

/** Returns items in groups of `size`, the last one shorter. */
export async function* inGroups<TItem>(
  items: AsyncIterable<TItem> | Iterable<TItem>,
  size: number,
): AsyncGenerator<TItem[]> {
  let group: TItem[] = [];
  for await (const item of items) {
    if (group.push(item) < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

/** Returns the request about a mail. */
export function requestFor({ toState, questions }: RunContext, mail: Mail): EvaluationRequest {
  return { state: toState(mail), questions };
}
