import { type EvaluationRequest, type Questions, type Transport } from "evaluator-client";
import type { ChunkRecord, LeasedChunk, PostgresRuns } from "../postgres/index.ts";
import { callUsd, type Price } from "../run/cost.ts";

/** What a chunk is asked with. */
export interface ChunkSetting {
  readonly runs: PostgresRuns;
  readonly questions: Questions;
  readonly transport: Transport;
  readonly price: Price;
  /** The most the run may cost, in US dollars; null for no bound. */
  readonly maxCostUsd: number | null;
  /** What calls have cost so far, of this worker. */
  readonly spent: { calls: number; usd: number };
}

/** A chunk that this worker has, and how far it is. */
export class ChunkWork {
  readonly leased: LeasedChunk;
  readonly records: readonly ChunkRecord[];
  readonly #setting: ChunkSetting;
  #reservedUsd = 0;
  #spentUsd: number;
  #inFlight = 0;
  #isRead = false;
  /** Whether another worker may have it by now. */
  isLost = false;
  readonly #ended = Promise.withResolvers<void>();

  private constructor(
    leased: LeasedChunk,
    { missing, costUsd }: { missing: readonly ChunkRecord[]; costUsd: number },
    setting: ChunkSetting,
  ) {
    this.leased = leased;
    this.records = missing;
    this.#spentUsd = costUsd;
    this.#setting = setting;
  }

  /** Reads what is to be asked of a chunk, and reserves what that may cost. */
  static async read(leased: LeasedChunk, setting: ChunkSetting): Promise<ChunkWork> {
    const work = new ChunkWork(leased, await setting.runs.readChunk(leased), setting);
    await work.#reserve(work.records);
    return work;
  }

  /** Whether one more call fits beside what is spent and in flight; reserves more where it does not. */
  async allows(index: number): Promise<boolean> {
    const { maxCostUsd } = this.#setting;
    if (maxCostUsd === null) return true;
    const perCall = this.#callUsd(this.records.slice(index, index + 1));
    const wanted = () => this.#spentUsd + (this.#inFlight + 1) * perCall;
    if (wanted() > this.#reservedUsd) await this.#reserve(this.records.slice(index));
    return wanted() <= this.#reservedUsd;
  }

  /** A call begins. */
  began(): void {
    this.#inFlight += 1;
  }

  /** A call has ended, and its end is committed. */
  endedCall(costUsd: number): void {
    this.#inFlight -= 1;
    this.#spentUsd += costUsd;
    this.#settle();
  }

  /** No more of its records are begun. */
  readToEnd(): void {
    this.#isRead = true;
    this.#settle();
  }

  /** Resolves when no more are begun and none is in flight. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  #settle(): void {
    if (this.#isRead && this.#inFlight === 0) this.#ended.resolve();
  }

  async #reserve(records: readonly ChunkRecord[]): Promise<void> {
    const { runs, maxCostUsd } = this.#setting;
    // Without a bound the row only says that the chunk is under way.
    const rest = maxCostUsd === null ? 0 : this.#callUsd(records) * records.length;
    const inFlightUsd = maxCostUsd === null ? 0 : this.#inFlight * this.#callUsd(records);
    this.#reservedUsd = await runs.reserve(this.leased, this.#spentUsd + inFlightUsd + rest);
  }

  #callUsd(records: readonly ChunkRecord[]): number {
    const { questions } = this.#setting;
    const requests = records.map(({ state }) => toRequest(state, questions));
    return callUsd(requests, this.#setting);
  }
}

/** Returns the request about a state that is kept as JSON. */
export function toRequest(state: string, questions: Questions): EvaluationRequest {
  return { state: JSON.parse(state) as EvaluationRequest["state"], questions };
}
