import {
  type Evaluation,
  EvaluatorError,
  InvalidRequestError,
  RefusalError,
  StatusError,
} from "evaluator-client";
import { toWire } from "./decision/decide.ts";
import { HttpError } from "./http-error.ts";
import type { Call } from "./message-router.ts";
import type { Services } from "./services/connect-services.ts";
import { type Calibrations, correct } from "./evaluations/calibrations.ts";
import {
  type Answered,
  toAnsweredEvaluation,
  type AskedEvaluation,
  wrongField,
} from "./evaluations/evaluation-form.ts";
import {
  type EvaluationEnd,
  type EvaluationRecord,
  toEvaluationRecord,
} from "./evaluations/evaluation-record.ts";
import { Purchase } from "./evaluation-purchase.ts";

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
export type EvaluationCall = Call & AskedEvaluation;

/** Answers, and how they came about. */
interface BoughtAnswer extends Answered {
  /** Whether another call bought them. */
  readonly isCached: boolean;
  /** The promise of the calibration, or the reason for none; null without calibrations. */
  readonly promise: string | null;
}

/** Asks the services for the answers to clients' questions; reserves, settles and records each call once. */
export class EvaluationRouter {
  readonly #routerParts: RouterParts;

  constructor(routerParts: RouterParts) {
    this.#routerParts = routerParts;
  }

  /** Returns checked answers. @throws HttpError (400, 404, 413, 422, 429, 503), EvaluatorError, or the signal's reason */
  async ask(call: EvaluationCall): Promise<BoughtAnswer> {
    const { list, models } = this.#routerParts.services.decisions.current;
    const services = list.slice(models.get(call.model ?? "") ?? 0);
    const purchase = new Purchase(call, services, this.#routerParts.calibrations);
    const recordFailure = (thrownFailure: unknown) => this.#failed(call, purchase, thrownFailure);
    try {
      await purchase.choose();
    } catch (failure) {
      return recordFailure(failure);
    }
    await purchase.reserve();
    return this.#evaluate(call, purchase).then(
      (evaluation) => this.#answered(call, purchase, evaluation),
      recordFailure,
    );
  }

  async #answered(call: EvaluationCall, purchase: Purchase, evaluation: Evaluation) {
    const { asked: askedService, costUsd } = purchase;
    const totalUsd = await purchase.settle();
    const { calibrations } = this.#routerParts;
    const { promise, ...correction } = correct(evaluation, call.request.questions, calibrations);
    const route = purchase.routeOf(evaluation);
    const model = evaluation.modelId ?? namesIn(route) ?? askedService.model;
    const answer = { ...evaluation, ...correction, costUsd, model, route };
    const { attempts } = evaluation.timing;
    const isCached = attempts === 0;
    const wire = toWire(evaluation, askedService.address);
    const steps = purchase.stepsOf(route);
    const answeredEnd = {
      outcome: "answered",
      answered: answer,
      attempts,
      isCached,
      wire,
      steps,
    } as const;
    this.#record(call, { ...answeredEnd, ...purchase.facts(), costUsd: totalUsd });
    return { ...answer, isCached, promise };
  }

  /** Returns the answers beside refused ones if the form has refusals, else throws. */
  async #failed(call: EvaluationCall, purchase: Purchase, failure: unknown): Promise<BoughtAnswer> {
    const costUsd = await purchase.settleFailed(failure);
    const { asked: askedService } = purchase;
    const refusal =
      failure instanceof RefusalError ? toAnsweredEvaluation(failure, askedService.model) : null;
    const outcome = refusal ? "refused" : call.signal.aborted ? "stopped" : "failed";
    const attempts = failure instanceof EvaluatorError ? failure.attempts : 0;
    const wire = refusal && askedService.address;
    const failedEnd = { outcome, failure, attempts, isCached: false, wire, steps: [] } as const;
    this.#record(call, { ...failedEnd, ...purchase.facts(), answered: refusal, costUsd });
    if (refusal === null || !call.takesRefusals) throw this.#toClientError(failure);
    return { ...refusal, isCached: false, promise: null };
  }

  #evaluate({ signal, requestId, trace }: EvaluationCall, { evaluator, request }: Purchase) {
    const { tracing } = this.#routerParts.services;
    const headers = {
      "x-request-id": requestId,
      ...(tracing === null ? trace : tracing.headers()),
    };
    const ask = () => evaluator.evaluate(request, { signal, headers });
    return tracing !== null && this.#routerParts.hasText ? tracing.withText(ask) : ask();
  }

  #record(call: EvaluationCall, evaluationEnd: EvaluationEnd): void {
    const record = toEvaluationRecord(this.#routerParts, call, evaluationEnd);
    for (const observe of this.#routerParts.observers) observe(record);
  }

  /** Returns the error of a request that the service or the client refuses; any other failure is returned unchanged. */
  #toClientError(failure: unknown): unknown {
    if (!(failure instanceof EvaluatorError)) return failure;
    const message = this.#routerParts.services.redact.strictly(failure.message);
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

/** Returns the models that gave the answers. */
function namesIn(route: Answered["route"]): string | null {
  const orderedRoutes = Object.values(route ?? {}).toSorted((one, other) => one.step - other.step);
  return route && [...new Set(orderedRoutes.map(({ model }) => model))].join(", ");
}
