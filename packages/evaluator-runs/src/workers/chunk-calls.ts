import type { EvaluationRequest } from "evaluator-client";
import { toKeptText } from "../journal/kept-answer.ts";
import { Budget, type CallCost } from "../money/cost.ts";
import type { ChunkRecord } from "../postgres/index.ts";
import { endsRun, type evaluateOne } from "../run/evaluate-one.ts";

// Chosen: one statement for so many calls, while little of the run's maximum is held at once.
const CALLS_RESERVED = 16;

/** The part of a run's maximum cost that a chunk has from the database, for a few calls at once. */
export class ChunkBudget extends Budget {
  readonly #reserveUsd: (usd: number) => Promise<number>;
  readonly #dearest: { factor: number };
  #asking: Promise<unknown> = Promise.resolve();
  /** What calls may have cost whose cost the database does not keep, in US dollars. */
  lostUsd = 0;

  /** @param grantedUsd - What the chunk has; `dearest` is shared by the chunks of a worker. */
  constructor(
    grantedUsd: number,
    from: ConstructorParameters<typeof Budget>[1] & {
      readonly reserveUsd: (usd: number) => Promise<number>;
      readonly dearest: { factor: number };
    },
  ) {
    super(grantedUsd, from);
    this.#reserveUsd = from.reserveUsd;
    this.#dearest = from.dearest;
  }

  override takeRetry(cost: CallCost): boolean | Promise<boolean> {
    return this.take(cost) || this.#ask(cost.mostUsd, () => this.take(cost));
  }

  /** Reserves the most that a call may cost; null if the run has not so much left. */
  async reserveCall(request: EvaluationRequest): Promise<CallCost | null> {
    this.factor = this.#dearest.factor = Math.max(this.factor, this.#dearest.factor);
    const mostUsd = this.mostUsdOf(request);
    return this.reserve(request) ?? (await this.#ask(mostUsd, () => this.reserve(request)));
  }

  /** Ends a call of which the database keeps a part of the cost. */
  endedWith(cost: CallCost, answersUsd: readonly (number | null)[], keptUsd: number): void {
    this.lostUsd += this.ended(cost, answersUsd) + cost.notedUsd - keptUsd;
  }

  /** Counts what calls of other chunks may have cost. */
  addLost(usd: number): void {
    this.lostUsd += usd;
    this.addSpent(usd);
  }

  /** Asks the database for more, one after the other: the chunk has what the last reply grants. */
  #ask<TTaken>(mostUsd: number, take: () => TTaken): Promise<TTaken> {
    const asked = this.#asking.then(async () => {
      this.maxUsd = await this.#reserveUsd(this.wantedUsd(mostUsd, CALLS_RESERVED));
      return take();
    });
    this.#asking = asked.catch(() => {});
    return asked;
  }
}

/** Returns the stored form of the outcome of a call. */
export function toEnd(
  { idx, key, state }: ChunkRecord,
  outcome: Awaited<ReturnType<typeof evaluateOne>>,
  costUsd: number,
) {
  if ("error" in outcome) {
    const { error, isRefusal, cause } = outcome;
    return { idx, error, isRefusal, isRetryable: cause.isRetryable, isFinal: endsRun(cause) };
  }
  const { evaluation } = outcome;
  const { inputTokens = 0 } = evaluation.usage ?? {};
  return { idx, key, state, evaluation: toKeptText(evaluation), inputTokens, costUsd };
}
