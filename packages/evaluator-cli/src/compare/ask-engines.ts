import { join } from "node:path";
import {
  type Answer,
  AuthenticationError,
  ConfigurationError,
  type Evaluation,
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
import { progressTimer } from "../read-files.ts";
import { makeFolder } from "../write-report.ts";
import { AnswerStore, type KeptEvaluation } from "./answer-store.ts";
import type { Asked } from "./asked.ts";

// Chosen, not measured: a record may be rejected; this many in a row are the engine's fault.
const MOST_IN_A_ROW = 5;

/** The parts that all engines of a run share. */
interface Shared {
  readonly asked: Asked;
  readonly context: CliContext;
  readonly store: AnswerStore;
  /** The cost of all calls, and of the dearest. */
  readonly spent: { usd: number; dearestUsd: number };
}

/** Asks for every answer that is not kept; one engine after the other, so that none slows down another. */
export async function askEngines(asked: Asked, context: CliContext) {
  const folder = await makeFolder(asked.options.out, context);
  using store = await AnswerStore.open(join(folder, "answers.sqlite"), asked.questions);
  const shared = { asked, context, store, spent: { usd: 0, dearestUsd: 0 } };
  const answered: Pick<EngineRun, "engine" | "evaluations" | "failures">[] = [];
  for (const engine of asked.engines) {
    const run = new EngineRun(engine, shared);
    await run.askMissing();
    const [failure] = run.failures.values();
    if (run.evaluations.size === 0 && failure !== undefined) {
      throw new CliError(printable`${engine.name} answered nothing. ${failure}`);
    }
    answered.push(run);
  }
  return answered;
}

class EngineRun {
  readonly engine: Engine;
  readonly evaluations = new Map<string, KeptEvaluation>();
  readonly failures = new Map<string, string>();
  readonly #shared: Shared;
  /** Its address, its model, and how its answers are read. */
  readonly #key: string;
  readonly #missing: string[] = [];
  readonly #isProgressDue: () => boolean;
  #begun = 0;
  #ended = 0;
  #failedInARow = 0;
  #spentUsd = 0;

  constructor(engine: Engine, shared: Shared) {
    this.engine = engine;
    this.#shared = shared;
    const { name, target: { url = "", modelId = "", format = "" } = {} } = engine.transport;
    this.#key = JSON.stringify([name, url, modelId, format]);
    this.#isProgressDue = progressTimer(shared.context.clock);
    for (const [id, state] of shared.asked.states) {
      const outcome = shared.store.find(this.#key, state);
      if (outcome === null) this.#missing.push(id);
      else this.#note(id, outcome);
    }
  }

  async askMissing(): Promise<void> {
    const { asked, context } = this.#shared;
    const { concurrency } = asked.options;
    await using evaluator = evaluatorOf(this.engine, context.env);
    const batch = { signal: context.signal, concurrency, order: "completion" } as const;
    const kept = asked.states.size - this.#missing.length;
    this.#print(`${kept} kept, ${this.#missing.length} to ask.`);
    // The first alone, since a problem of the engine shows there.
    for (const part of [this.#missing.slice(0, 1), this.#missing.slice(1)]) {
      for await (const item of evaluator.evaluateMany(this.#requestsOf(part), batch)) {
        const id = part[item.index] as string;
        this.#ended += 1;
        if (item.status === "succeeded") this.#keep(id, item.evaluation);
        else this.#fail(id, item.error);
        this.#printProgress();
      }
    }
    const left = this.#missing.length - this.#begun;
    if (left > 0) throw this.#outOfBudget(left);
  }

  *#requestsOf(part: readonly string[]) {
    const { asked, spent } = this.#shared;
    const { maxCost = Number.POSITIVE_INFINITY } = asked.options;
    for (const id of part) {
      // One more call, beside those under way, could pass the limit.
      if (spent.usd + (this.#begun - this.#ended + 1) * spent.dearestUsd > maxCost) return;
      this.#begun += 1;
      yield { state: this.#stateOf(id), questions: asked.questions };
    }
  }

  #stateOf(id: string): string | object {
    return this.#shared.asked.states.get(id) as string | object;
  }

  #keep(id: string, answered: Evaluation): void {
    const { asked, spent, store } = this.#shared;
    const evaluation = toKept(answered, asked, this.engine);
    const costUsd = evaluation.costUsd ?? 0;
    this.#failedInARow = 0;
    this.#spentUsd += costUsd;
    spent.usd += costUsd;
    spent.dearestUsd = Math.max(spent.dearestUsd, costUsd);
    store.keep(this.#key, this.#stateOf(id), { evaluation });
    this.#note(id, { evaluation });
  }

  #fail(id: string, error: unknown): void {
    this.#failedInARow += 1;
    const isEnd = isEnginesFault(error) || this.#failedInARow >= MOST_IN_A_ROW;
    if (!(error instanceof EvaluatorError) || isEnd) throw toEngineError(error, this.engine);
    const outcome = { failure: error.message };
    // An unusable answer is kept, as it would be paid for again; other failures are asked again.
    const isFinal = error instanceof RefusalError || error instanceof InvalidResponseError;
    if (isFinal) this.#shared.store.keep(this.#key, this.#stateOf(id), outcome);
    this.#note(id, outcome);
  }

  #note(id: string, outcome: NonNullable<ReturnType<AnswerStore["find"]>>): void {
    if ("evaluation" in outcome) this.evaluations.set(id, outcome.evaluation);
    else this.failures.set(id, outcome.failure);
  }

  #print(text: string): void {
    this.#shared.context.stderr.write(printable`${this.engine.name}: ${text}` + "\n");
  }

  #printProgress(): void {
    if (!this.#isProgressDue()) return;
    const { size } = this.#shared.asked.states;
    const failed = this.failures.size === 0 ? "" : `, ${this.failures.size} failed`;
    const cost = this.#spentUsd === 0 ? "" : `, $${this.#spentUsd.toFixed(4)}`;
    this.#print(`${this.evaluations.size} of ${size} answered${failed}${cost}`);
  }

  #outOfBudget(left: number): CliError {
    const spent = this.#shared.spent.usd.toFixed(4);
    const problem = printable`Stopped at --max-cost: $${spent} spent, and ${this.engine.name} has ${String(left)} records left.`;
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

function toKept(evaluation: Evaluation, { questions }: Asked, { transport }: Engine) {
  const { answers, headers, costUsd, timing, providerMetadata } = evaluation;
  const read = providerMetadata["logprobs"] as Record<string, { flips: boolean }> | undefined;
  const values = Object.entries(questions).map(([id, question]) => {
    return [id, probabilitiesOf(question, answers[id] as Answer)] as const;
  });
  const flips =
    read && Object.fromEntries(Object.entries(read).map(([id, one]) => [id, one.flips]));
  return {
    answers: Object.fromEntries(values),
    basis: emulatedBasis(headers),
    flips: flips ?? null,
    costUsd,
    ms: timing.totalMs,
    // SGLang does not name the model that answers; it is the requested one.
    modelId: evaluation.modelId ?? transport.target?.modelId ?? null,
  };
}

function probabilitiesOf(question: Question, answer: Answer): number[] {
  return valuesOf(question, answer).flatMap((field) => {
    if (field.form === "probability") return [field.value];
    return field.form === "distribution" ? field.keys.map((key) => field.value[key] ?? 0) : [];
  });
}
