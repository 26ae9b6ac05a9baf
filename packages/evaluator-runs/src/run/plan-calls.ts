import { hash } from "node:crypto";
import {
  type CostEstimate,
  estimateCost,
  type EvaluationRequest,
  type JsonObject,
} from "evaluator-client";
import { DIGEST_BYTES, DigestTable, NumberList, RepeatFinder } from "../input/digests.ts";
import {
  type AdditionCosts,
  changedInput,
  type InputRecord,
  type RecordInput,
  type RunRecord,
} from "../input/record-source.ts";
import type { NotedMail } from "../journal/journal.ts";
import { callKey, type CallStatus, repeatedKey, setupHash } from "../journal/kept-answer.ts";
import type { RunContext } from "./run-context.ts";

/** Mails planned at once: each group waits for the disk once. Chosen, not measured. */
const GROUP_SIZE = 500;
const allStatuses: readonly CallStatus[] = ["unknown", "answered", "refused", "begun", "changed"];
/** Beyond these a repeated state is looked for in a pass of its own, in less memory. Chosen. */
const COUNTED_AT_MOST = 1_000_000;
const noPrice = { inputUsdPerMillionTokens: 0 };

/** One mail, and where its answer is kept. */
export interface PlannedCall extends InputRecord {
  readonly key: string;
  readonly status: CallStatus;
}

/** The records of a run, which are read once for each pass. */
export type PlanInput = Pick<RecordInput, "length" | "records"> &
  Partial<Pick<RecordInput, "additions">>;

/** What a plan is made from. */
export interface PlanContext extends Pick<
  RunContext,
  "questions" | "service" | "transport" | "inputPath" | "signal"
> {
  readonly input: PlanInput;
  readonly run: Pick<RunContext["run"], "limit" | "dryRun">;
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
  context: PlanContext,
  { journal, noteMails }: PlanOptions,
): Promise<CallPlan> {
  const { input, run, signal } = context;
  const plan = new CallPlan(context, await findRepeats(context));
  for await (const records of inGroups(input.records(run.limit), GROUP_SIZE)) {
    signal.throwIfAborted();
    const keys = plan.addKeys(records, plan.length);
    const entries = records.map(({ record }, at) => {
      return { id: record.id, key: keys[at] ?? "", note: toNote(record) };
    });
    const statuses = await journal?.statusesOf(entries.map(({ key }) => key));
    for (const [at, record] of records.entries())
      plan.addStatus(record, statuses?.[at] ?? "unknown");
    noteMails?.(entries);
  }
  return plan;
}

/** Returns how often a state has come before, by the index of its mail; null for few mails, which are counted as they come. */
async function findRepeats(context: PlanContext): Promise<ReadonlyMap<number, number> | null> {
  const { input, run, signal } = context;
  if (Math.min(input.length, run.limit) <= COUNTED_AT_MOST) return null;
  const setup = setupHash(context);
  using finder = new RepeatFinder();
  for await (const { record } of input.records(run.limit)) {
    signal.throwIfAborted();
    finder.add(digestOf(callKey(setup, JSON.stringify(record.state))));
  }
  return new Map(Array.from(finder.repeats(), ({ index, repeat }) => [index, repeat]));
}

/** The calls of a run: statuses, and no mail and no key, since an input may be larger than memory. */
export class CallPlan {
  readonly #context: PlanContext;
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
  readonly additions: AdditionCosts | null;

  /** @param repeats - By the index of a mail, how often its state has come before; null to count it. */
  constructor(context: PlanContext, repeats: ReadonlyMap<number, number> | null) {
    this.#context = context;
    this.#setup = setupHash(context);
    this.additions = context.run.dryRun ? additionsOf(context) : null;
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
  addKeys(group: readonly InputRecord[], start: number): string[] {
    const keys = group.map((input) => this.#keyOf(input));
    this.#digests.push(digestOfAll(keys));
    for (const [at, key] of keys.entries()) this.#countRepeat(start + at, key);
    return keys.map((key, at) => this.#repeatedKey(start + at, key));
  }

  /** Adds the status of the next call that has a key. */
  addStatus({ record }: InputRecord, status: CallStatus): void {
    this.#statuses[this.#length] = allStatuses.indexOf(status);
    this.#length += 1;
    this.#counts[status] += 1;
    this.additions?.add(record);
    if (isEnded({ status })) return;
    const { transport } = this.#context;
    const request = requestFor(this.#context, record);
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
    for await (const group of inGroups(input.records(this.length), GROUP_SIZE)) {
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

  #keyOf({ record }: InputRecord): string {
    return callKey(this.#setup, JSON.stringify(record.state));
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

/** Returns what a journal keeps of a record beside its state, as JSON. */
export function toNote({ source }: RunRecord): string | null {
  return source === null ? null : JSON.stringify(source);
}

function additionsOf({ input, transport, questions }: PlanContext): AdditionCosts | null {
  const tokensOf = (state: JsonObject) =>
    estimateCost([{ state, questions }], { ...noPrice, transport }).inputTokens;
  return input.additions?.(tokensOf) ?? null;
}

/** Returns the request about a record. */
export function requestFor(
  { questions }: Pick<RunContext, "questions">,
  { state }: RunRecord,
): EvaluationRequest {
  return { state, questions };
}
