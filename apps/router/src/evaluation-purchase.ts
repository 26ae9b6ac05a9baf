import {
  type AnswerRoute,
  type Evaluation,
  type EvaluationRequest,
  EvaluatorError,
  type Evaluator,
  type InvalidRequestError,
  InvalidResponseError,
  type Middleware,
  RefusalError,
  StatusError,
} from "evaluator-client";
import { escalate } from "evaluator-client/escalate";
import { fallback } from "evaluator-client/fallback";
import { maybeBilled } from "./decision/decide.ts";
import type { CallBudget } from "./keys/call-budget.ts";
import { noPrice } from "./keys/call-price.ts";
import type { Calibrations } from "./evaluations/calibrations.ts";
import type { Answered, AskedEvaluation } from "./evaluations/evaluation-form.ts";
import type { EvaluationEnd } from "./evaluations/evaluation-record.ts";
import { type DecisionService, stateFor } from "./evaluations/evaluation-services.ts";
import { mapEntries } from "./evaluations/systemone-form.ts";
import { boundsFor } from "./evaluations/unsure-bounds.ts";

interface PaidCall extends Pick<AskedEvaluation, "request"> {
  readonly budget: CallBudget | null;
  readonly signal: AbortSignal;
}

/** The money of one call: the highest price is reserved for each attempt that may have to be paid. */
export class Purchase {
  readonly #paidCall: PaidCall;
  readonly #calibrations: Calibrations;
  #services: readonly DecisionService[];
  /** The request as the services get it. */
  readonly request: EvaluationRequest;
  /** Answers that were paid for and not used. */
  #lostAttempts = 0;
  /** The failure whose answer is among the lost ones. */
  #countedFailure: unknown = null;
  /** Whether anything was sent to the service that was asked last; a call that joins another one sends nothing. */
  #isSent = false;
  readonly #startedAt = performance.now();
  /** The answers and refusals that were paid for, each with its service, in the order in which they came. */
  readonly #paidItems: { readonly service: DecisionService; readonly costUsd: number | null }[] =
    [];
  #lastService: DecisionService;

  constructor(call: PaidCall, services: readonly DecisionService[], calibrations: Calibrations) {
    this.#paidCall = call;
    this.#services = services;
    this.#calibrations = calibrations;
    const all = services.flatMap((one) => (one.next === null ? [one] : [one, one.next.service]));
    this.request = { ...call.request, state: stateFor(all, call.request.state) };
    this.#lastService = services[0] as DecisionService;
  }

  /** The service that answered first, else the one that was asked last. */
  get asked(): DecisionService {
    return this.#paidItems[0]?.service ?? this.#lastService;
  }

  /** The cost of all answers; null if that of one is unknown. */
  get costUsd(): number | null {
    return this.#paidItems.reduce<number | null>(
      (sum, { costUsd }) => (sum === null || costUsd === null ? null : sum + costUsd),
      0,
    );
  }

  /** Returns who answered each question; null if no second service may be asked. */
  routeOf({ route }: Evaluation): Answered["route"] {
    if (route === undefined) return null;
    const answerRoutes: Readonly<Record<string, AnswerRoute>> = route;
    return mapEntries(answerRoutes, ({ step, modelId, isSure, failure }) => {
      const service = this.#paidItems[step - 1]?.service ?? this.asked;
      const errorName = failure && (/^\w+/.exec(failure)?.[0] ?? "Error");
      return {
        step,
        service: service.name,
        model: modelId ?? service.model,
        isSure,
        failure: errorName,
      };
    });
  }

  /** What each service answered, if a second one may be asked. */
  stepsOf(route: Answered["route"]): EvaluationEnd["steps"] {
    if (route === null) return [];
    return this.#paidItems.map(({ service, costUsd }, stepIndex) => {
      const answers = Object.values(route).filter(({ step }) => step === stepIndex + 1).length;
      return { service: service.name, model: service.model, answers, costUsd };
    });
  }

  /** Leaves out the services that do not take the request. @throws InvalidRequestError of the last one if none does */
  async choose(): Promise<void> {
    const problems = await Promise.all(
      this.#services.map((service) => service.problemWith(this.request)),
    );
    const takers = this.#services.filter((_, serviceIndex) => problems[serviceIndex] === null);
    if (takers.length === 0) throw problems.at(-1) as InvalidRequestError;
    this.#services = takers;
  }

  /** @throws HttpError (400) without a price, (429) without room */
  async reserve(): Promise<void> {
    await this.#paidCall.budget?.reserveUsd(this.#mostUsd());
  }

  /** The service that answered, and the time so far. */
  facts() {
    return { service: this.asked.name, ms: Math.round(performance.now() - this.#startedAt) };
  }

  /** Charges the call, an unknown price as its most; returns the price with that of lost answers, null if unknown. */
  async settle(): Promise<number | null> {
    const { costUsd } = this;
    const itemCosts = this.#paidItems.map(
      (paidItem) => paidItem.costUsd ?? paidItem.service.mostCostOf(this.request) ?? 0,
    );
    const mostUsd = itemCosts.reduce((totalUsd, itemUsd) => totalUsd + itemUsd, 0);
    await this.#paidCall.budget?.settle(0, mostUsd);
    return costUsd === null || this.#lostAttempts > 0 ? null : costUsd;
  }

  /** Charges a failed call: a lost answer may have been paid, and a refusal was. */
  async settleFailed(failure: unknown): Promise<number | null> {
    const isStopped = this.#paidCall.signal.aborted && !(failure instanceof RefusalError);
    const isPaid = isStopped || (isLost(failure) && failure !== this.#countedFailure);
    if (this.#isSent && isPaid) this.#paidItems.push({ service: this.#lastService, costUsd: null });
    return this.settle();
  }

  /**
   * Returns the most that one attempt can cost at the dearest service, which may be the one that answers, with one
   * of the service that it asks again.
   */
  #mostUsd(): number {
    const findMostUsd = ({ name, mostCostOf }: DecisionService) => {
      const mostUsd = mostCostOf(this.request);
      if (mostUsd !== null) return mostUsd;
      throw noPrice(name, "set one in the decisions of router.config.json");
    };
    const serviceCosts = this.#services.map((service) => {
      return findMostUsd(service) + (service.next === null ? 0 : findMostUsd(service.next.service));
    });
    return Math.max(...serviceCosts);
  }

  /** Asks the services in turn. */
  get evaluator(): Evaluator {
    return this.#services.reduceRight<Evaluator | null>((nextEvaluator, service) => {
      const watchedEvaluator = service.evaluator.with(this.#watch(service));
      const own = this.#escalated(watchedEvaluator, service);
      return nextEvaluator === null ? own : own.with(fallback(nextEvaluator, { on: isForNext }));
    }, null) as Evaluator;
  }

  /** Returns an evaluator that asks the second service of a service again for its unsure answers. */
  #escalated(watchedEvaluator: Evaluator, { model, next }: DecisionService) {
    if (next === null) return watchedEvaluator;
    const { questions } = this.request;
    const { service, unsure, ownUnsure } = next;
    const bounds = boundsFor({ model, unsure }, questions, this.#calibrations);
    if (Object.keys(bounds).length === 0) return watchedEvaluator;
    const nextService = { model: service.model, unsure: ownUnsure };
    const nextBounds = boundsFor(nextService, questions, this.#calibrations);
    const nextEvaluator = service.evaluator.with(this.#watch(service, true));
    return watchedEvaluator.with(escalate(nextEvaluator, bounds, { nextBounds }));
  }

  /** Reserves once more before each attempt that follows a lost answer. */
  #watch(service: DecisionService, isAgain = false): Middleware {
    return async (request, next, call) => {
      this.#lastService = service;
      this.#isSent = false;
      let countedLost = 0;
      const countLost = async (lastAttempts = 0) => {
        // Those of the next service are counted there.
        const lostCount = call.lostAttempts - call.elsewhere.lost - lastAttempts;
        const newlyLost = lostCount - countedLost;
        countedLost = lostCount;
        if (newlyLost > 0) await this.#lose(service, newlyLost);
      };
      call.beforeAttempt(() => {
        this.#isSent = true;
        return countLost();
      });
      try {
        const evaluation = await next(request);
        this.#paidItems.push({ service, costUsd: service.costOf(evaluation) });
        return evaluation;
      } catch (error) {
        if (error instanceof RefusalError)
          this.#paidItems.push({ service, costUsd: this.#isSent ? service.costOf(error) : 0 });
        // The lost attempts of a call that this one joined are the other's.
        if (!this.#isSent) throw error;
        // The last answer is settled at the end, or counted before the next service is asked.
        await countLost(Number(maybeBilled(error)));
        if (isLost(error) && (isAgain || service !== this.#services.at(-1))) {
          this.#countedFailure = error;
          await this.#lose(service, 1);
        }
        throw error;
      }
    };
  }

  /** @throws HttpError (429) if the budget has no room for another attempt */
  async #lose(service: DecisionService, answerCount: number): Promise<void> {
    this.#lostAttempts += answerCount;
    const { budget } = this.#paidCall;
    const mostUsd = service.mostCostOf(this.request) ?? 0;
    if (budget === null || (await budget.addAttempt(answerCount * mostUsd))) return;
    throw budget.refusal();
  }
}

/** Whether a failed attempt may have to be paid: its answer was lost, or broke a rule. */
function isLost(error: unknown): boolean {
  return maybeBilled(error) || error instanceof InvalidResponseError;
}

/**
 * Whether the next service may answer: after a failure that passes, a broken answer, and the refusal of an account, of
 * a model or of a length. Any other bad request is the client's, and must not end in the 5xx of a later service.
 */
function isForNext(error: unknown): boolean {
  if (!(error instanceof EvaluatorError)) return false;
  if (error.isRetryable || error instanceof InvalidResponseError) return true;
  if (!(error instanceof StatusError)) return false;
  return ![400, 422].includes(error.status) || isTooLong(error);
}

/** Services have no common code for it; the client's advice has the words. */
function isTooLong({ message }: StatusError): boolean {
  return message.includes("too long");
}
