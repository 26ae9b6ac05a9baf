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
export function escalate(next: Helper, bounds: Bounds, options: EscalateOptions = {}): Middleware {
  checkOptions(nextSchema, { next });
  checkOptions(optionsNamed("nextBounds"), options);
  const firstBounds = parseBounds(bounds);
  const nextBounds = parseBounds(options.nextBounds ?? {});
  const evaluate = async (
    request: EvaluationRequest,
    ask: (request: EvaluationRequest) => Promise<Evaluation>,
    call: MiddlewareCall,
  ): Promise<Evaluation> => {
    const { questions } = request;
    await checkBounds(firstBounds, questions);
    await checkBounds(nextBounds, questions);
    const startedAtMs = call.clock.now();
    const first = withRoute(await ask(request), { questions, bounds: firstBounds, stepsBefore: 0 });
    const unsure = unsureIn(firstBounds, questions, first);
    if (unsure.length === 0) return first;
    const again = Object.fromEntries(unsure.map((id) => [id, questions[id] as Question]));
    const lostEarlier = call.elsewhere.lost;
    const { answered: answeredEvaluation, failure } = await askOther(
      next,
      { ...request, questions: again },
      call,
    ).then(
      (evaluation) => ({ answered: evaluation, failure: undefined }),
      (error: unknown) => answersDespite(error, call, lostEarlier),
    );
    const firstEvaluation = failure === undefined ? first : withFailure(first, unsure, failure);
    if (answeredEvaluation === null) return firstEvaluation;
    const stepsBefore = first.steps?.length ?? 1;
    const second = withRoute(answeredEvaluation, {
      questions: again,
      bounds: nextBounds,
      stepsBefore,
    });
    const totalMs = elapsedMs(call.clock, startedAtMs);
    return merge(firstEvaluation, second, totalMs);
  };
  return evaluate as Middleware;
}

/** Returns the answers and the failure of the next evaluator. @throws an error that the caller has to see. */
function answersDespite(
  error: unknown,
  { signal, elsewhere }: MiddlewareCall,
  lostEarlier: number,
): { readonly answered: Evaluation | null; readonly failure: string } {
  const isLate = error instanceof TimeoutError && error.limit === "deadline";
  const wasAborted = signal?.aborted === true && !isLate;
  if (wasAborted || error instanceof ConfigurationError) {
    // The first answers were paid for, and are lost with the call.
    elsewhere.lost += elsewhere.answered;
    throw error;
  }
  const answeredEvaluation = error instanceof RefusalError ? restOfRefusal(error) : null;
  const lostAttempts = elsewhere.lost - lostEarlier;
  if (answeredEvaluation === null)
    elsewhere.lost = lostEarlier + billedAttempts(error, { lostAttempts, signal });
  else elsewhere.answered += 1;
  const { name = "Error", message } = Object(error) as Partial<Error>;
  // The text of an error that is not ours may contain the state.
  return {
    answered: answeredEvaluation,
    failure: error instanceof EvaluatorError ? `${name}: ${message}` : name,
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
  const unsure = new Set(unsureIn(bounds, questions, evaluation));
  const ids = Object.keys(questions).filter((id) => Object.hasOwn(evaluation.answers, id));
  const routes = ids.map((id): [string, AnswerRoute] => {
    const knownAnswerRoute = route?.[id] ?? {
      step: 1,
      transport,
      modelId,
      isSure: null,
      failure: null,
    };
    const isSure = Object.hasOwn(bounds, id) ? !unsure.has(id) : knownAnswerRoute.isSure;
    return [id, { ...knownAnswerRoute, step: knownAnswerRoute.step + stepsBefore, isSure }];
  });
  return { ...evaluation, route: Object.fromEntries(routes) };
}

type Routed = ReturnType<typeof withRoute>;

function withFailure(first: Routed, ids: readonly string[], failure: string): Routed {
  const marks = ids.map((id) => [id, { ...(first.route[id] as AnswerRoute), failure }] as const);
  return { ...first, route: { ...first.route, ...Object.fromEntries(marks) } };
}

/** Returns the first evaluation with the answers of the second in their places, and the cost of both. */
function merge(first: Routed, second: Routed, totalMs: number): Routed {
  const isFrom = (id: string) => Object.hasOwn(second.answers, id);
  const isWhole = Object.keys(first.answers).every(isFrom);
  const mixed = (field: "answers" | "confidence" | "route") => {
    const ids = Object.keys(first[field]);
    return Object.fromEntries(
      ids.map((id) => [id, toOwn((isFrom(id) ? second : first)[field], id)]),
    ) as never;
  };
  const isOneModel = isWhole || first.modelId === second.modelId;
  const { usage, timing } = first;
  return {
    ...(isWhole ? second : first),
    answers: mixed("answers"),
    confidence: mixed("confidence"),
    route: mixed("route"),
    // A cut state of either one is a fact about the answers of both.
    warnings: isWhole ? second.warnings : [...first.warnings, ...second.warnings],
    // The coarser one holds for the answers of both.
    rounding: coarser(first.rounding, second.rounding),
    modelId: isOneModel ? second.modelId : null,
    usage: usage &&
      second.usage && {
        inputTokens: usage.inputTokens + second.usage.inputTokens,
        outputTokens: usage.outputTokens + second.usage.outputTokens,
      },
    costUsd: sum(first.costUsd, second.costUsd),
    timing: {
      totalMs,
      providerMs: sum(timing.providerMs, second.timing.providerMs),
      attempts: timing.attempts + second.timing.attempts,
    },
    steps: [...listSteps(first), ...listSteps(second)],
  };
}

function toOwn(record: Readonly<Record<string, unknown>>, id: string): unknown {
  return Object.hasOwn(record, id) ? record[id] : null;
}

function listSteps(evaluation: Routed): readonly Evaluation[] {
  if (evaluation.steps !== undefined) return evaluation.steps;
  const step: Evaluation = { ...evaluation };
  delete step.route;
  return [step];
}

function coarser(one: Rounding, other: Rounding): Rounding {
  const sumError = Math.max(one.sumError ?? 0, other.sumError ?? 0);
  return {
    probabilityDecimals: Math.min(one.probabilityDecimals, other.probabilityDecimals),
    scoreDecimals: Math.min(one.scoreDecimals, other.scoreDecimals),
    ...(sumError > 0 && { sumError }),
  };
}

/** Returns a sum that is unknown if a part of it is. */
function sum(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other;
}
