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
  valuesOf,
} from "evaluator-client";
import { CliError, type CliContext, printable } from "evaluator-kit";
import { emulatedBasis, type Engine, evaluatorOf, toEngineError } from "../engines/engine.ts";
import { PROGRESS_EVERY_MS } from "../files/read-records.ts";
import { type AnswerStore, engineKey, type KeptEvaluation, type Outcome } from "./answer-store.ts";
import type { Asked } from "./read-asked.ts";

/** An engine's answers and failures by record. */
export type AskedEngine = Awaited<ReturnType<typeof askEngine>>;

/** What all engines of a run share. */
interface AskOptions {
  readonly store: AnswerStore;
  /** The key of the call about each record. */
  readonly calls: ReadonlyMap<string, string>;
  readonly budget: Budget;
  readonly context: CliContext;
  readonly concurrency: number;
}

// Chosen, not measured: a record may be rejected; this many in a row are the engine's fault.
const MOST_IN_A_ROW = 5;

/** The spending limit of a run, over all engines. */
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

  /** Returns whether one more call, beside those under way, could pass the limit. */
  isUsedUp(underWay: number): boolean {
    return this.spentUsd + (underWay + 1) * this.#dearestUsd > this.#maxUsd;
  }
}

interface Missing {
  readonly id: string;
  readonly call: string;
  readonly state: string | object;
}

/**
 * Asks one engine for every answer that is not kept yet.
 *
 * @throws CliError if the engine is at fault or the budget is used up; answers are kept.
 */
export async function askEngine(engine: Engine, asked: Asked, options: AskOptions) {
  const run = new EngineRun(engine, asked, options);
  await using evaluator = evaluatorOf(engine, options.context.env);
  await run.askMissing(evaluator);
  return { engine, evaluations: run.evaluations, failures: run.failures };
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
  #nextProgressMs: number;

  constructor(engine: Engine, asked: Asked, options: AskOptions) {
    this.#engine = engine;
    this.#asked = asked;
    this.#options = options;
    this.#key = engineKey(engine.transport);
    this.#nextProgressMs = options.context.clock.now() + PROGRESS_EVERY_MS;
    for (const [id, state] of asked.states) {
      const call = options.calls.get(id) as string;
      const outcome = options.store.find(this.#key, call);
      if (outcome === null) this.#missing.push({ id, call, state });
      else this.#note(id, outcome);
    }
  }

  async askMissing(evaluator: Evaluator): Promise<void> {
    const { context, concurrency } = this.#options;
    const batch = { signal: context.signal, concurrency, order: "completion" } as const;
    const kept = this.#asked.states.size - this.#missing.length;
    this.#print(`${kept} kept, ${this.#missing.length} to ask.`);
    // The first alone, since a problem of the engine shows there.
    for (const part of [this.#missing.slice(0, 1), this.#missing.slice(1)]) {
      for await (const item of evaluator.evaluateMany(this.#requestsOf(part), batch)) {
        const missing = part[item.index] as Missing;
        this.#ended += 1;
        if (item.status === "succeeded") this.#keep(missing, item.evaluation);
        else this.#fail(missing, item.error);
        this.#printProgress();
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

  #keep({ id, call }: Missing, answered: Evaluation): void {
    const evaluation = toKept(answered, this.#asked, this.#engine);
    this.#failedInARow = 0;
    this.#spentUsd += evaluation.costUsd ?? 0;
    this.#options.budget.add(evaluation.costUsd);
    this.#options.store.keep(this.#key, call, { evaluation });
    this.#note(id, { evaluation });
  }

  #fail({ id, call }: Missing, error: unknown): void {
    this.#failedInARow += 1;
    const isEnd = isEnginesFault(error) || this.#failedInARow >= MOST_IN_A_ROW;
    if (!(error instanceof EvaluatorError) || isEnd) throw toEngineError(error, this.#engine);
    const outcome = { failure: error.message };
    // An unusable answer is kept, as it would be paid for again; other failures are asked again.
    const isFinal = error instanceof RefusalError || error instanceof InvalidResponseError;
    if (isFinal) this.#options.store.keep(this.#key, call, outcome);
    this.#note(id, outcome);
  }

  #note(id: string, outcome: Outcome): void {
    if ("evaluation" in outcome) this.evaluations.set(id, outcome.evaluation);
    else this.failures.set(id, outcome.failure);
  }

  #print(text: string): void {
    this.#options.context.stderr.write(printable`${this.#engine.name}: ${text}` + "\n");
  }

  #printProgress(): void {
    const now = this.#options.context.clock.now();
    if (now < this.#nextProgressMs) return;
    this.#nextProgressMs = now + PROGRESS_EVERY_MS;
    const failed = this.failures.size === 0 ? "" : `, ${this.failures.size} failed`;
    const cost = this.#spentUsd === 0 ? "" : `, $${this.#spentUsd.toFixed(4)}`;
    this.#print(`${this.evaluations.size} of ${this.#asked.states.size} answered${failed}${cost}`);
  }

  #outOfBudget(): CliError {
    const spent = this.#options.budget.spentUsd.toFixed(4);
    const left = this.#missing.length - this.#begun;
    const problem = printable`Stopped at --max-cost: $${spent} spent, and ${this.#engine.name} has ${String(left)} records left.`;
    return new CliError(`${problem} The answers are kept; the same command goes on from there.`);
  }
}

/** Whether every other record would fail too. */
function isEnginesFault(error: unknown): boolean {
  if (!(error instanceof StatusError)) {
    return error instanceof ConfigurationError || error instanceof InvalidRequestError;
  }
  const isAbsent = [404, 405, 501].includes(error.status);
  return isAbsent || error instanceof AuthenticationError || error.needsPaidCredits;
}

function toKept(
  evaluation: Evaluation,
  { questions }: Asked,
  { transport }: Engine,
): KeptEvaluation {
  const { answers, headers, costUsd, timing, providerMetadata } = evaluation;
  const read = providerMetadata["logprobs"] as Record<string, { flips: boolean }> | undefined;
  const values = Object.entries(questions).map(([id, question]) => {
    return [id, probabilitiesOf(question, answers[id] as Answer)] as const;
  });
  const flips = read && Object.entries(read).map(([id, one]) => [id, one.flips] as const);
  return {
    answers: Object.fromEntries(values),
    basis: emulatedBasis(headers),
    flips: flips === undefined ? null : Object.fromEntries(flips),
    costUsd,
    ms: timing.totalMs,
    // SGLang does not name the model that answers; it is the requested one.
    modelId: evaluation.modelId ?? transport.target?.modelId ?? null,
  };
}

function probabilitiesOf(question: Question, answer: Answer): readonly number[] {
  return valuesOf(question, answer).flatMap((field) => {
    if (field.form === "probability") return [field.value];
    return field.form === "distribution" ? field.keys.map((key) => field.value[key] ?? 0) : [];
  });
}
