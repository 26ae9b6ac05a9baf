import { elapsedMs } from "../clock.ts";
import { ConfigurationError, EvaluatorError, RefusalError, TimeoutError } from "../errors.ts";
import type { AnswerRoute } from "../answer-route.ts";
import type { Evaluation } from "../evaluation.ts";
import type { Middleware, MiddlewareCall } from "../evaluator.ts";
import { checkOptions, objectWith, optionsNamed, optionsObject } from "../options.ts";
import type { Question, Questions } from "../questions/kinds.ts";
import type { Rounding } from "../questions/kinds/kind.ts";
import type { EvaluationRequest } from "../questions/request.ts";
import { restOfRefusal } from "../rest-of-refusal.ts";
import { askOther, type Helper } from "./ask-other.ts";
import { billedAttempts } from "./budget.ts";
import { type Bounds, checkBounds, parseBounds, unsureIn } from "./bounds.ts";

export { type Bound, boundFits, boundFrom, type Bounds, type PromiseArtifact } from "./bounds.ts";
export type { Helper } from "./ask-other.ts";

/** Options of {@link escalate}. */
export interface EscalateOptions {
  /** When an answer of the next evaluator is unsure, too; only `route` shows it. @default never */
  nextBounds?: Bounds | undefined;
}

const nextSchema = optionsObject({
  next: objectWith("it is an evaluator, from createEvaluator()", "evaluate"),
});

/**
 * Makes a middleware that asks the next evaluator again for the unsure questions alone. `route` of the
 * evaluation names who answered each question; prices, tokens and attempts are those of both. If the next one
 * fails or is late, the first answers remain, marked in `route` with the failure.
 *
 * @throws {ConfigurationError} when an option is wrong. A call throws it, before anything is sent, when a bound
 * does not fit its question, and later when it is an error of the next evaluator.
 * @example
 * ```ts
 * const better = createEvaluator({ transport: directTransport({ service: "openai" }) });
 * const evaluator = createEvaluator().with(escalate(better, { scam: { between: [0.2, 0.8] } }));
 * const { answers, route } = await evaluator.evaluate({ state, questions });
 * ```
 */
export function escalate(
  nextEvaluator: Helper,
  bounds: Bounds,
  options: EscalateOptions = {},
): Middleware {
  checkOptions(nextSchema, { next: nextEvaluator });
  checkOptions(optionsNamed("nextBounds"), options);
  const firstBounds = parseBounds(bounds);
  const nextBounds = parseBounds(options.nextBounds ?? {});
  const evaluate = async (
    request: EvaluationRequest,
    askFirst: (request: EvaluationRequest) => Promise<Evaluation>,
    call: MiddlewareCall,
  ): Promise<Evaluation> => {
    const { questions } = request;
    await checkBounds(firstBounds, questions);
    await checkBounds(nextBounds, questions);
    const startedAtMs = call.clock.now();
    const first = withRoute(await askFirst(request), {
      questions,
      bounds: firstBounds,
      stepsBefore: 0,
    });
    const unsureIds = unsureIn(firstBounds, questions, first);
    if (unsureIds.length === 0) return first;
    const repeatedQuestions = Object.fromEntries(
      unsureIds.map((questionId) => [questionId, questions[questionId] as Question]),
    );
    const lostEarlier = call.elsewhere.lost;
    const { answered: answeredEvaluation, failure } = await askOther(
      nextEvaluator,
      { ...request, questions: repeatedQuestions },
      call,
    ).then(
      (evaluation) => ({ answered: evaluation, failure: undefined }),
      (error: unknown) => answersDespite(error, call, lostEarlier),
    );
    const firstEvaluation = failure === undefined ? first : withFailure(first, unsureIds, failure);
    if (answeredEvaluation === null) return firstEvaluation;
    const stepsBefore = first.steps?.length ?? 1;
    const secondEvaluation = withRoute(answeredEvaluation, {
      questions: repeatedQuestions,
      bounds: nextBounds,
      stepsBefore,
    });
    const totalMs = elapsedMs(call.clock, startedAtMs);
    return mergeEvaluations(firstEvaluation, secondEvaluation, totalMs);
  };
  return evaluate as Middleware;
}

/** Returns the answers and the failure of the next evaluator. @throws an error that the caller has to see. */
function answersDespite(
  helperError: unknown,
  { signal, elsewhere }: MiddlewareCall,
  lostEarlier: number,
): { readonly answered: Evaluation | null; readonly failure: string } {
  const isPastDeadline = helperError instanceof TimeoutError && helperError.limit === "deadline";
  const wasAborted = signal?.aborted === true && !isPastDeadline;
  if (wasAborted || helperError instanceof ConfigurationError) {
    // The first answers were paid for, and are lost with the call.
    elsewhere.lost += elsewhere.answered;
    throw helperError;
  }
  const answeredEvaluation =
    helperError instanceof RefusalError ? restOfRefusal(helperError) : null;
  const lostAttempts = elsewhere.lost - lostEarlier;
  if (answeredEvaluation === null)
    elsewhere.lost = lostEarlier + billedAttempts(helperError, { lostAttempts, signal });
  else elsewhere.answered += 1;
  const { name = "Error", message } = Object(helperError) as Partial<Error>;
  // The text of an error that is not ours may contain the state.
  return {
    answered: answeredEvaluation,
    failure: helperError instanceof EvaluatorError ? `${name}: ${message}` : name,
  };
}

interface Routing {
  readonly questions: Questions;
  readonly bounds: Bounds;
  /** How many evaluators answered before. */
  readonly stepsBefore: number;
}

function withRoute(
  evaluation: Evaluation,
  { questions, bounds, stepsBefore }: Routing,
): Evaluation & Required<Pick<Evaluation, "route">> {
  const { transport, modelId, route } = evaluation;
  const unsureIds = new Set(unsureIn(bounds, questions, evaluation));
  const answeredIds = Object.keys(questions).filter((questionId) =>
    Object.hasOwn(evaluation.answers, questionId),
  );
  const answerRoutes = answeredIds.map((questionId): [string, AnswerRoute] => {
    const knownAnswerRoute = route?.[questionId] ?? {
      step: 1,
      transport,
      modelId,
      isSure: null,
      failure: null,
    };
    const isSure = Object.hasOwn(bounds, questionId)
      ? !unsureIds.has(questionId)
      : knownAnswerRoute.isSure;
    return [questionId, { ...knownAnswerRoute, step: knownAnswerRoute.step + stepsBefore, isSure }];
  });
  return { ...evaluation, route: Object.fromEntries(answerRoutes) };
}

type Routed = ReturnType<typeof withRoute>;

function withFailure(firstEvaluation: Routed, ids: readonly string[], failure: string): Routed {
  const markedRoutes = ids.map(
    (questionId) =>
      [questionId, { ...(firstEvaluation.route[questionId] as AnswerRoute), failure }] as const,
  );
  return {
    ...firstEvaluation,
    route: { ...firstEvaluation.route, ...Object.fromEntries(markedRoutes) },
  };
}

/** Returns the first evaluation with the answers of the second in their places, and the cost of both. */
function mergeEvaluations(
  firstEvaluation: Routed,
  secondEvaluation: Routed,
  totalMs: number,
): Routed {
  const isFromSecond = (questionId: string) => Object.hasOwn(secondEvaluation.answers, questionId);
  const isWhole = Object.keys(firstEvaluation.answers).every(isFromSecond);
  const mixFields = (fieldName: "answers" | "confidence" | "route") => {
    const ids = Object.keys(firstEvaluation[fieldName]);
    return Object.fromEntries(
      ids.map((questionId) => [
        questionId,
        ownValueOf(
          (isFromSecond(questionId) ? secondEvaluation : firstEvaluation)[fieldName],
          questionId,
        ),
      ]),
    ) as never;
  };
  const isOneModel = isWhole || firstEvaluation.modelId === secondEvaluation.modelId;
  const { usage, timing } = firstEvaluation;
  return {
    ...(isWhole ? secondEvaluation : firstEvaluation),
    answers: mixFields("answers"),
    confidence: mixFields("confidence"),
    route: mixFields("route"),
    // A cut state of either one is a fact about the answers of both.
    warnings: isWhole
      ? secondEvaluation.warnings
      : [...firstEvaluation.warnings, ...secondEvaluation.warnings],
    // The coarser one holds for the answers of both.
    rounding: coarser(firstEvaluation.rounding, secondEvaluation.rounding),
    modelId: isOneModel ? secondEvaluation.modelId : null,
    usage: usage &&
      secondEvaluation.usage && {
        inputTokens: usage.inputTokens + secondEvaluation.usage.inputTokens,
        outputTokens: usage.outputTokens + secondEvaluation.usage.outputTokens,
      },
    costUsd: sumOrNull(firstEvaluation.costUsd, secondEvaluation.costUsd),
    timing: {
      totalMs,
      providerMs: sumOrNull(timing.providerMs, secondEvaluation.timing.providerMs),
      attempts: timing.attempts + secondEvaluation.timing.attempts,
    },
    steps: [...listSteps(firstEvaluation), ...listSteps(secondEvaluation)],
  };
}

function ownValueOf(recordById: Readonly<Record<string, unknown>>, questionId: string): unknown {
  return Object.hasOwn(recordById, questionId) ? recordById[questionId] : null;
}

function listSteps(evaluation: Routed): readonly Evaluation[] {
  if (evaluation.steps !== undefined) return evaluation.steps;
  const ownStep: Evaluation = { ...evaluation };
  delete ownStep.route;
  return [ownStep];
}

function coarser(leftRounding: Rounding, rightRounding: Rounding): Rounding {
  const sumError = Math.max(leftRounding.sumError ?? 0, rightRounding.sumError ?? 0);
  return {
    probabilityDecimals: Math.min(
      leftRounding.probabilityDecimals,
      rightRounding.probabilityDecimals,
    ),
    scoreDecimals: Math.min(leftRounding.scoreDecimals, rightRounding.scoreDecimals),
    ...(sumError > 0 && { sumError }),
  };
}

/** Returns a sum that is unknown if a part of it is. */
function sumOrNull(leftAmount: number | null, rightAmount: number | null): number | null {
  return leftAmount === null || rightAmount === null ? null : leftAmount + rightAmount;
}
