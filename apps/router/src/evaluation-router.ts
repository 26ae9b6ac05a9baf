import {
  type Evaluation,
  type Evaluator,
  EvaluatorError,
  type EvaluationRequest,
  InvalidRequestError,
  InvalidResponseError,
  type Middleware,
  RefusalError,
  StatusError,
} from "evaluator-client";
import { fallback } from "evaluator-client/fallback";
import { maybeBilled, wireOf } from "./decision/decide.ts";
import { HttpError } from "./http-error.ts";
import type { Call } from "./message-router.ts";
import type { Services } from "./services/connect-services.ts";
import { type Calibrations, correct } from "./evaluations/calibrations.ts";
import {
  type Answered,
  answeredOf,
  type AskedEvaluation,
  type EvaluationForm,
  wrongField,
} from "./evaluations/evaluation-form.ts";
import {
  type EvaluationEnd,
  type EvaluationRecord,
  toEvaluationRecord,
} from "./evaluations/evaluation-record.ts";
import { type DecisionService, stateFor } from "./evaluations/evaluation-services.ts";

interface RouterParts {
  readonly services: Pick<Services, "decisions" | "redact" | "tracing">;
  readonly observers: readonly ((record: EvaluationRecord) => void)[];
  /** The router's name in its records. */
  readonly instance: string;
  /** Whether records have states and answers. */
  readonly hasText: boolean;
  readonly calibrations: Calibrations;
}

/** A client's call with its questions. */
export type EvaluationCall = Omit<Call, "endpoint"> &
  Pick<EvaluationForm, "endpoint"> &
  AskedEvaluation;

/** Answers, and how they came about. */
interface BoughtAnswer extends Answered {
  /** Whether another call bought them. */
  readonly isCached: boolean;
  /** The promise of the calibration, or the reason for none; null without calibrations. */
  readonly promise: string | null;
}

/** Asks the services for the answers to clients' questions; reserves, settles and records each call once. */
export class EvaluationRouter {
  readonly #parts: RouterParts;

  constructor(parts: RouterParts) {
    this.#parts = parts;
  }

  /** Returns checked answers. @throws HttpError (400, 404, 413, 422, 429, 503), EvaluatorError, or the signal's reason */
  async ask(call: EvaluationCall): Promise<BoughtAnswer> {
    const { list, models } = this.#parts.services.decisions.current;
    const purchase = new Purchase(call, list.slice(models.get(call.model ?? "") ?? 0));
    await purchase.reserve();
    return this.#evaluate(call, purchase).then(
      (evaluation) => this.#answered(call, purchase, evaluation),
      (failure: unknown) => this.#failed(call, purchase, failure),
    );
  }

  async #answered(call: EvaluationCall, purchase: Purchase, evaluation: Evaluation) {
    const { asked } = purchase;
    const costUsd = asked.costOf(evaluation);
    const totalUsd = await purchase.settle(costUsd);
    const { calibrations } = this.#parts;
    const { promise, ...corrected } = correct(evaluation, call.request.questions, calibrations);
    const model = evaluation.modelId ?? asked.model;
    const answered = { ...evaluation, ...corrected, costUsd, model };
    const { attempts } = evaluation.timing;
    const isCached = attempts === 0;
    const wire = wireOf(evaluation, asked.address);
    const end = { outcome: "answered", answered, attempts, isCached, wire } as const;
    this.#record(call, { ...end, ...purchase.facts(), costUsd: totalUsd });
    return { ...answered, isCached, promise };
  }

  /** Returns the answers beside refused ones if the form has refusals, else throws. */
  async #failed(call: EvaluationCall, purchase: Purchase, failure: unknown): Promise<BoughtAnswer> {
    const costUsd = await purchase.settleFailed(failure);
    const { asked } = purchase;
    const refused = failure instanceof RefusalError ? answeredOf(failure, asked.model) : null;
    const outcome = refused ? "refused" : call.signal.aborted ? "stopped" : "failed";
    const attempts = failure instanceof EvaluatorError ? failure.attempts : 0;
    const wire = refused && asked.address;
    const end = { outcome, failure, attempts, isCached: false, wire } as const;
    this.#record(call, { ...end, ...purchase.facts(), answered: refused, costUsd });
    if (refused === null || !call.takesRefusals) throw this.#toClientError(failure);
    return { ...refused, isCached: false, promise: null };
  }

  #evaluate({ signal, requestId, trace }: EvaluationCall, { evaluator, request }: Purchase) {
    const { tracing } = this.#parts.services;
    const headers = {
      "x-request-id": requestId,
      ...(tracing === null ? trace : tracing.headers()),
    };
    const ask = () => evaluator.evaluate(request, { signal, headers });
    return tracing !== null && this.#parts.hasText ? tracing.withText(ask) : ask();
  }

  #record(call: EvaluationCall, end: EvaluationEnd): void {
    const record = toEvaluationRecord(this.#parts, call, end);
    for (const observe of this.#parts.observers) observe(record);
  }

  /** Returns the error of a request that the service or the client refuses; any other failure is returned unchanged. */
  #toClientError(failure: unknown): unknown {
    if (!(failure instanceof EvaluatorError)) return failure;
    const message = this.#parts.services.redact.strictly(failure.message);
    if (failure instanceof InvalidRequestError) {
      const { questionId } = failure;
      return wrongField(
        questionId === null ? [] : ["questions", questionId],
        `is refused: ${message.replace(/\.$/, "")}`,
      );
    }
    if (failure instanceof RefusalError) {
      return new HttpError(422, message, { code: "refusal", retryAfter: null });
    }
    const isOurs = !(failure instanceof StatusError) || failure.needsPaidCredits;
    const status = isOurs ? undefined : clientStatuses[failure.status];
    if (status === undefined) return failure;
    return new HttpError(status, message, { retryAfter: null });
  }
}

/** Statuses with which a service rejects the client's request, and the router's own. */
const clientStatuses: Readonly<Record<number, 400 | 404 | 413>> = {
  400: 400,
  404: 404,
  413: 413,
  422: 400,
};

/** The money of one call: the highest price is reserved for each attempt that may have to be paid. */
class Purchase {
  readonly #call: EvaluationCall;
  readonly #services: readonly DecisionService[];
  /** The request as the services get it. */
  readonly request: EvaluationRequest;
  /** Answers that were paid for and not used. */
  #lost = 0;
  /** The failure whose answer is among the lost ones. */
  #counted: unknown = null;
  #isSent = false;
  #startedAt = 0;
  /** The service that was asked last. */
  asked: DecisionService;
  readonly evaluator: Evaluator;

  constructor(call: EvaluationCall, services: readonly DecisionService[]) {
    this.#call = call;
    this.#services = services;
    this.request = { ...call.request, state: stateFor(services, call.request.state) };
    this.asked = services[0] as DecisionService;
    this.evaluator = this.#chain();
  }

  /** @throws HttpError (400) without a price, (429) without room */
  async reserve(): Promise<void> {
    await this.#call.budget?.reserveUsd(this.#mostUsd());
    this.#startedAt = performance.now();
  }

  /** The service that was asked last, and the time so far. */
  facts() {
    return { service: this.asked.name, ms: Math.round(performance.now() - this.#startedAt) };
  }

  /** Charges the call, an unknown price as estimated; returns the price with that of lost answers, null if unknown. */
  async settle(costUsd: number | null): Promise<number | null> {
    const { budget } = this.#call;
    await budget?.settle(0, costUsd === null ? null : costUsd + budget.lostEvaluationsUsd);
    return costUsd === null || this.#lost > 0 ? null : costUsd;
  }

  /** Charges a failed call: a lost answer may have been paid, and a refusal was. Nothing was sent if another call asked. */
  async settleFailed(failure: unknown): Promise<number | null> {
    if (!this.#isSent) return this.settle(0);
    if (failure instanceof RefusalError) return this.settle(this.asked.costOf(failure));
    const isStopped = this.#call.signal.aborted;
    const isPaid = isStopped || (isLost(failure) && failure !== this.#counted);
    return this.settle(isPaid ? null : 0);
  }

  /** Returns the most that one attempt can cost at the dearest service, which may be the one that answers. */
  #mostUsd(): number {
    const costs = this.#services.map(({ name, mostCostOf }) => {
      const usd = mostCostOf(this.request);
      if (usd !== null) return usd;
      const problem = `The key has a budget, and there is no price for ${name}`;
      throw new HttpError(
        400,
        `${problem}: name a service with its price in the decisions of router.config.json.`,
      );
    });
    return Math.max(...costs);
  }

  #chain(): Evaluator {
    return this.#services.reduceRight<Evaluator | null>((next, service) => {
      const watched = service.evaluator.with(this.#watch(service));
      return next === null ? watched : watched.with(fallback(next));
    }, null) as Evaluator;
  }

  /** Reserves once more before each attempt that follows a lost answer. */
  #watch(service: DecisionService): Middleware {
    return async (request, next, call) => {
      this.asked = service;
      let counted = 0;
      const count = async (last = 0) => {
        // Those of the next service are counted there.
        const lost = call.lostAttempts - call.elsewhere.lost - last;
        const more = lost - counted;
        counted = lost;
        if (more > 0) await this.#lose(more);
      };
      call.beforeAttempt(() => {
        this.#isSent = true;
        return count();
      });
      try {
        return await next(request);
      } catch (error) {
        // The last answer is settled at the end, or counted before the next service is asked.
        await count(Number(maybeBilled(error)));
        if (isLost(error) && service !== this.#services.at(-1)) {
          this.#counted = error;
          await this.#lose(1);
        }
        throw error;
      }
    };
  }

  /** @throws HttpError (429) if the budget has no room for another attempt */
  async #lose(answers: number): Promise<void> {
    this.#lost += answers;
    const { budget } = this.#call;
    if (budget === null || (await budget.addEvaluations(answers))) return;
    throw budget.refusal();
  }
}

/** Whether a failed attempt may have to be paid: its answer was lost, or broke a rule. */
function isLost(error: unknown): boolean {
  return maybeBilled(error) || error instanceof InvalidResponseError;
}
