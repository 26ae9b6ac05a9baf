import {
  type Answer,
  AuthenticationError,
  ConfigurationError,
  type Evaluation,
  type Evaluator,
  EvaluatorError,
  InvalidRequestError,
  InvalidResponseError,
  type Question,
  RefusalError,
  StatusError,
} from "evaluator-client";
import { CliError, type CliContext, printable } from "evaluator-kit";
import { emulatedBasis, type Engine, evaluatorOf, toEngineError } from "../engines/engine.ts";
import { PROGRESS_EVERY_MS } from "../files/read-records.ts";
import { type AnswerStore, engineKey, type KeptEvaluation, type Outcome } from "./answer-store.ts";
import type { CompareOptions } from "../commands/ask-commands.ts";
import type { Asked } from "./read-asked.ts";

/** Everything one engine was asked, and what became of it. */
export type AskedEngine = Awaited<ReturnType<typeof askEngine>>;

/** What all engines of a run share. */
export interface AskOptions {
  readonly store: AnswerStore;
  /** The key of the call about each record, by the record's id. */
  readonly calls: ReadonlyMap<string, string>;
  readonly budget: Budget;
  readonly context: CliContext;
  readonly concurrency: CompareOptions["concurrency"];
}

// Chosen, not measured: one record may be rejected or too long; this many in a row, with none answered between, are the engine.
const MOST_IN_A_ROW = 5;

/** What a run may spend, over all engines. */
export class Budget {
  readonly #maxUsd: number;
  spentUsd = 0;
  #dearestUsd = 0;

  constructor(maxUsd: number) {
    this.#maxUsd = maxUsd;
  }

  /** Counts the price of one call. */
  add(costUsd: number | null): void {
    this.spentUsd += costUsd ?? 0;
    this.#dearestUsd = Math.max(this.#dearestUsd, costUsd ?? 0);
  }

  /** Returns whether one call more, beside those under way, could pass the limit. */
  isUsedUp(underWay: number): boolean {
    return this.spentUsd + (underWay + 1) * this.#dearestUsd > this.#maxUsd;
  }
}

/**
 * Asks one engine for everything that is not kept yet.
 *
 * @throws CliError where the engine itself is at fault, or the budget is used up; what was answered
 * is kept.
 */
export async function askEngine(engine: Engine, asked: Asked, options: AskOptions) {
  const run = new EngineRun(engine, asked, options);
  await using evaluator = evaluatorOf(engine, options.context.env);
  await run.askMissing(evaluator);
  return { engine, evaluations: run.evaluations, failures: run.failures };
}

interface Missing {
  readonly id: string;
  readonly call: string;
  readonly state: string | object;
}

class EngineRun {
  readonly evaluations = new Map<string, KeptEvaluation>();
  readonly failures = new Map<string, string>();
  readonly #engine: Engine;
  readonly #asked: Asked;
  readonly #options: AskOptions;
  readonly #key: string;
  readonly #missing: Missing[] = [];
  #begun = 0;
  #ended = 0;
  #failedInARow = 0;
  #spentUsd = 0;
  #nextProgressMs = 0;

  constructor(engine: Engine, asked: Asked, options: AskOptions) {
    this.#engine = engine;
    this.#asked = asked;
    this.#options = options;
    this.#key = engineKey(engine.transport);
    for (const [id, state] of asked.states) {
      const call = options.calls.get(id) as string;
      const outcome = options.store.find(this.#key, call);
      if (outcome === null) this.#missing.push({ id, call, state });
      else this.#note(id, outcome);
    }
  }

  /** Asks the first alone, since what is wrong with the engine shows there, and then the others. */
  async askMissing(evaluator: Evaluator): Promise<void> {
    const { context, concurrency } = this.#options;
    const kept = this.#asked.states.size - this.#missing.length;
    const name = this.#engine.name;
    context.stderr.write(
      printable`${name}: ${String(kept)} kept, ${String(this.#missing.length)} to ask.` + "\n",
    );
    this.#nextProgressMs = context.clock.now() + PROGRESS_EVERY_MS;
    for (const part of [this.#missing.slice(0, 1), this.#missing.slice(1)]) {
      const batch = { signal: context.signal, concurrency, order: "completion" } as const;
      for await (const item of evaluator.evaluateMany(this.#requestsOf(part), batch)) {
        const missing = part[item.index] as Missing;
        if (item.status === "succeeded") this.#keep(missing, item.evaluation);
        else this.#fail(missing, item.error);
        this.#showProgress();
      }
    }
    if (this.#begun < this.#missing.length) throw this.#outOfBudget();
  }

  *#requestsOf(part: readonly Missing[]) {
    for (const { state } of part) {
      if (this.#options.budget.isUsedUp(this.#begun - this.#ended)) return;
      this.#begun += 1;
      yield { state, questions: this.#asked.questions };
    }
  }

  #keep({ id, call }: Missing, evaluation: Evaluation): void {
    // SGLang does not say which model answers; it is the one that was asked for.
    const modelId = evaluation.modelId ?? this.#engine.transport.target?.modelId ?? null;
    const kept = { ...toKept(evaluation, this.#asked), modelId };
    this.#ended += 1;
    this.#failedInARow = 0;
    this.#spentUsd += kept.costUsd ?? 0;
    this.#options.budget.add(kept.costUsd);
    this.#options.store.keep(this.#key, call, { evaluation: kept });
    this.#note(id, { evaluation: kept });
  }

  #fail({ id, call }: Missing, error: unknown): void {
    this.#ended += 1;
    this.#failedInARow += 1;
    const isEnd = isEnginesFault(error) || this.#failedInARow >= MOST_IN_A_ROW;
    if (!(error instanceof EvaluatorError) || isEnd) throw toEngineError(error, this.#engine);
    const outcome = { failure: error.message };
    // An answer that cannot be used is kept, as it is paid for again otherwise; other failures are asked again.
    const isFinal = error instanceof RefusalError || error instanceof InvalidResponseError;
    if (isFinal) this.#options.store.keep(this.#key, call, outcome);
    this.#note(id, outcome);
  }

  #note(id: string, outcome: Outcome): void {
    if ("evaluation" in outcome) this.evaluations.set(id, outcome.evaluation);
    else this.failures.set(id, outcome.failure);
  }

  #showProgress(): void {
    const { clock, stderr } = this.#options.context;
    if (clock.now() < this.#nextProgressMs) return;
    this.#nextProgressMs = clock.now() + PROGRESS_EVERY_MS;
    const done = `${this.evaluations.size} of ${this.#asked.states.size} answered`;
    const failed = this.failures.size === 0 ? "" : `, ${this.failures.size} failed`;
    const cost = this.#spentUsd === 0 ? "" : `, $${this.#spentUsd.toFixed(4)}`;
    stderr.write(printable`${this.#engine.name}: ${done}${failed}${cost}` + "\n");
  }

  #outOfBudget(): CliError {
    const { spentUsd } = this.#options.budget;
    const left = this.#missing.length - this.#begun;
    const what = printable`Stopped at --max-cost: $${spentUsd.toFixed(4)} spent, and ${this.#engine.name} has ${String(left)} records left.`;
    return new CliError(`${what} What was answered is kept; the same command goes on from there.`);
  }
}

/** Whether no other record could fare better. */
function isEnginesFault(error: unknown): boolean {
  if (!(error instanceof StatusError)) {
    return error instanceof ConfigurationError || error instanceof InvalidRequestError;
  }
  const isAbsent = [404, 405, 501].includes(error.status);
  return isAbsent || error instanceof AuthenticationError || error.needsPaidCredits;
}

function toKept(evaluation: Evaluation, { questions }: Asked): Omit<KeptEvaluation, "modelId"> {
  const { answers, headers, costUsd, timing, providerMetadata } = evaluation;
  const read = providerMetadata["logprobs"] as Record<string, { flips: boolean }> | undefined;
  const values = Object.entries(questions).map(([id, question]) => {
    return [id, valuesOf(answers[id] as Answer, question)] as const;
  });
  return {
    answers: Object.fromEntries(values),
    basis: emulatedBasis(headers),
    flips:
      read === undefined
        ? null
        : Object.fromEntries(Object.entries(read).map(([id, { flips }]) => [id, flips])),
    costUsd,
    ms: timing.totalMs,
  };
}

function valuesOf(answer: Answer, { criteria }: Question): readonly number[] {
  if (answer.type === "boolean") return [answer.probability];
  const { probabilities } = answer;
  return Object.keys(criteria ?? {}).map((name) => probabilities[name] ?? 0);
}
