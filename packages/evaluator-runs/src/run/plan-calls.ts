import { hash } from "node:crypto";
import {
  type CostEstimate,
  estimateCost,
  type JsonObject,
  mostCostUsd,
  type Transport,
} from "evaluator-client";
import { RepeatFinder } from "../input/digests.ts";
import {
  changedInput,
  inGroups,
  type InputRecord,
  type RecordInput,
} from "../input/record-source.ts";
import type { CallStatus } from "../store/run-store.ts";
import type { Journal } from "../sqlite/journal.ts";
import { callKey, repeatedKey, setupHash } from "../journal/kept-answer.ts";
import { type RunPrice, tokensUsd } from "../money/price.ts";
import type { NextEngine } from "../next-engine.ts";
import type { RunContext } from "./run-context.ts";

/** Records planned at once: each group waits for the disk once. Chosen, not measured. */
const GROUP_SIZE = 500;
/** Records that are read before the first of them is asked about. With 500, no call began for 3 ms of each 150. */
const COMPARED_AT_ONCE = 50;
const allStatuses: readonly CallStatus[] = ["unknown", "answered", "refused", "begun", "changed"];
/** Beyond these a separate pass looks for repeated states, in less memory. Chosen. */
const COUNTED_AT_MOST = 1_000_000;
const noPrice = { inputUsdPerMillionTokens: 0 };
/** A dollar a token, so that a cost is a number of tokens. */
const oneUsd = { inputUsdPerMillionTokens: 1_000_000 };

/** The state of a record: text or an object. */
export type AskedState = string | JsonObject;

/** A record, the key of its answer, and its status. */
export interface PlannedCall<TState extends AskedState = AskedState> extends InputRecord<TState> {
  readonly key: string;
  readonly status: CallStatus;
}

/** The records of a run, which are read once for each pass. */
export type PlanInput<TState extends AskedState = AskedState> = Pick<
  RecordInput<TState>,
  "length" | "records"
>;

/** The inputs of a plan. */
interface PlanContext<TState extends AskedState = AskedState> extends Pick<
  RunContext,
  "questions" | "service" | "transport" | "inputPath" | "signal"
> {
  /** The engine that is asked again. @default none */
  readonly next?: Pick<NextEngine, "transport"> | null;
  readonly input: PlanInput<TState>;
  readonly run: Pick<RunContext["run"], "limit" | "newSince" | "part" | "asked">;
}

/** The reads and notes of a plan in a journal. @default unknown statuses, and no notes */
interface PlanJournal extends Partial<Pick<Journal, "noteRecords">> {
  statusesOf?(keys: readonly string[]): readonly CallStatus[] | Promise<readonly CallStatus[]>;
}

/** Looks up the status of each record's call, in input order. */
export async function planCalls<TState extends AskedState>(
  context: PlanContext<TState>,
  journal: PlanJournal,
): Promise<CallPlan<TState>> {
  const { input, run, signal } = context;
  const callPlan = new CallPlan(context, await findRepeats(context));
  for await (const inputRecords of inGroups(input.records(run.limit), GROUP_SIZE)) {
    signal.throwIfAborted();
    const callKeys = callPlan.addKeys(inputRecords);
    const entries = inputRecords.map(({ record: { id, source } }, recordIndex) => {
      return { id, key: callKeys[recordIndex] ?? "", note: source && JSON.stringify(source) };
    });
    const callStatuses = await journal.statusesOf?.(callKeys);
    for (const [recordIndex, inputRecord] of inputRecords.entries()) {
      const callStatus = callStatuses?.[recordIndex] ?? "unknown";
      const isOver = callStatus !== "answered" && run.asked?.has(inputRecord.record.id);
      callPlan.addStatus(inputRecord, isOver ? "refused" : callStatus);
    }
    journal.noteRecords?.(entries, run);
  }
  return callPlan;
}

/** Returns how often a state was there before, by the index of its record; null if the plan counts it. */
async function findRepeats(context: PlanContext): Promise<Map<number, number> | null> {
  const { input, run, signal } = context;
  if (Math.min(input.length, run.limit) <= COUNTED_AT_MOST) return null;
  const callSetup = setupHash(context);
  using repeatFinder = new RepeatFinder();
  for await (const { record } of input.records(run.limit)) {
    signal.throwIfAborted();
    repeatFinder.add(Buffer.from(callKey(callSetup, JSON.stringify(record.state)), "base64url"));
  }
  return new Map(Array.from(repeatFinder.repeats(), ({ index, repeat }) => [index, repeat]));
}

/** The calls of a run: their statuses, without records and keys, since an input may exceed memory. */
export class CallPlan<TState extends AskedState = AskedState> {
  readonly #context: PlanContext<TState>;
  readonly #setup: string;
  /** Counts the keys; null if a separate pass did. */
  readonly #keys: Map<string, number> | null;
  readonly #repeats: Map<number, number>;
  readonly #statuses: Uint8Array;
  #length = 0;
  /** A digest of the keys of each group, to detect a changed input. */
  readonly #digests: string[] = [];
  readonly #counts = { unknown: 0, answered: 0, refused: 0, begun: 0, changed: 0 };
  /** The estimates of the open calls for each engine. */
  readonly #missing: { calls: number; inputTokens: number }[];
  /** For each engine the most tokens of the calls that an earlier try began and did not end. */
  readonly #mostTokensBegun: number[];

  /** @param repeats - See `findRepeats`. */
  constructor(context: PlanContext<TState>, repeats: Map<number, number> | null) {
    const { input, run } = context;
    this.#context = context;
    this.#missing = this.#engines.map(() => ({ calls: 0, inputTokens: 0 }));
    this.#mostTokensBegun = this.#engines.map(() => 0);
    this.#setup = setupHash(context);
    const plannedLength = Math.min(input.length, run.limit);
    this.#keys = repeats === null ? new Map() : null;
    this.#repeats = repeats ?? new Map();
    this.#statuses = new Uint8Array(plannedLength);
  }

  /** The number of calls. */
  get length(): number {
    return this.#length;
  }

  /** The number of calls to be made. */
  get open(): number {
    return this.#length - this.#counts.answered - this.#counts.refused;
  }

  /** The estimate of the open calls for each engine; the second one is asked again for some of them. */
  get missing(): readonly Readonly<Pick<CostEstimate, "calls" | "inputTokens">>[] {
    return this.#missing;
  }

  get #engines(): readonly Transport[] {
    const { transport, next = null } = this.#context;
    return next === null ? [transport] : [transport, next.transport];
  }

  /** Returns the most US dollars of the calls that an earlier try began and did not end. */
  mostUsdBegun(price: RunPrice): number {
    const prices = [price, price.next ?? price] as const;
    const costs = this.#mostTokensBegun.map((tokens, at) => tokensUsd(tokens, prices[at] ?? price));
    return costs.reduce((costSum, engineUsd) => costSum + engineUsd, 0);
  }

  /** Returns the number of calls with a status. */
  count(countedStatus: CallStatus): number {
    return this.#counts[countedStatus];
  }

  /** Adds the calls about the next group of records, and returns their keys. */
  addKeys(inputRecords: readonly InputRecord<TState>[]): string[] {
    const callKeys = inputRecords.map((inputRecord) => this.#toKey(inputRecord));
    this.#digests.push(...digestsOf(callKeys));
    const firstIndex = this.#length;
    for (const [keyIndex, key] of callKeys.entries()) {
      const repeatCount = this.#keys?.get(key) ?? 0;
      this.#keys?.set(key, repeatCount + 1);
      if (repeatCount > 0) this.#repeats.set(firstIndex + keyIndex, repeatCount);
    }
    return callKeys.map((firstKey, keyIndex) => this.#repeatedKey(firstIndex + keyIndex, firstKey));
  }

  /** Adds the status of the next call. */
  addStatus({ record }: InputRecord<TState>, callStatus: CallStatus): void {
    this.#statuses[this.#length] = allStatuses.indexOf(callStatus);
    this.#length += 1;
    this.#counts[callStatus] += 1;
    if (isEnded(callStatus)) return;
    const { questions } = this.#context;
    const plannedRequest = { state: record.state, questions };
    for (const [engineIndex, missing] of this.#missing.entries()) {
      const transport = this.#engines[engineIndex] as Transport;
      const { calls, inputTokens } = estimateCost([plannedRequest], { ...noPrice, transport });
      missing.calls += calls;
      missing.inputTokens += inputTokens;
      if (callStatus !== "begun") continue;
      const mostTokens = mostCostUsd(plannedRequest, { ...oneUsd, transport });
      this.#mostTokensBegun[engineIndex] = (this.#mostTokensBegun[engineIndex] ?? 0) + mostTokens;
    }
  }

  /**
   * Returns all calls in order, and reads their records again.
   *
   * @throws CliError if the input has changed since it was planned.
   */
  async *calls(): AsyncGenerator<PlannedCall<TState>, undefined> {
    const { input, inputPath } = this.#context;
    let planIndex = 0;
    for await (const inputRecords of inGroups(input.records(this.length), COMPARED_AT_ONCE)) {
      const callKeys = inputRecords.map((inputRecord) => this.#toKey(inputRecord));
      if (this.#digests[planIndex / COMPARED_AT_ONCE] !== digestsOf(callKeys)[0]) {
        throw changedInput(inputPath);
      }
      for (const [groupIndex, inputRecord] of inputRecords.entries()) {
        const key = this.#repeatedKey(planIndex, callKeys[groupIndex] ?? "");
        const status = allStatuses[this.#statuses[planIndex] ?? 0] ?? "unknown";
        yield { ...inputRecord, key, status };
        planIndex += 1;
      }
    }
  }

  /** Reads the calls to be made, as `calls` does. */
  async *openCalls(): AsyncGenerator<PlannedCall<TState>, undefined> {
    for await (const call of this.calls()) if (!isEnded(call.status)) yield call;
  }

  #repeatedKey(planIndex: number, firstKey: string): string {
    return repeatedKey(firstKey, this.#repeats.get(planIndex) ?? 0);
  }

  #toKey({ record }: InputRecord<TState>): string {
    return callKey(this.#setup, JSON.stringify(record.state));
  }
}

/** Returns whether a call is not made again. */
function isEnded(callStatus: CallStatus): boolean {
  return callStatus === "answered" || callStatus === "refused";
}

/** Returns a digest of each group of keys that are compared at once. */
function digestsOf(keys: readonly string[]): string[] {
  const groupDigests: string[] = [];
  for (let keyIndex = 0; keyIndex < keys.length; keyIndex += COMPARED_AT_ONCE) {
    const groupKeys = keys.slice(keyIndex, keyIndex + COMPARED_AT_ONCE);
    groupDigests.push(hash("sha256", groupKeys.join("\n"), "base64url"));
  }
  return groupDigests;
}
