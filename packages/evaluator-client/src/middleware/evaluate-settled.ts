import { RefusalError } from "../errors.ts";
import type { Evaluation, Usage } from "../evaluation.ts";
import type { Evaluator } from "../evaluator.ts";
import type { EvaluateOptions } from "../evaluator-options.ts";
import type { AnswerFor, Questions } from "../questions/kinds.ts";
import type { NonEmpty } from "../questions/kinds/kind.ts";
import type { EvaluationRequest } from "../questions/request.ts";
import type { StateOf } from "../questions/state.ts";
import { type Bound, type Bounds, checkBounds, parseBounds, unsureIn } from "./bounds.ts";

/** The outcome of one question; `bound` is null if `escalate` gave it. */
export type SettledAnswer<TAnswer> =
  | { readonly status: "answered"; readonly answer: TAnswer }
  | { readonly status: "unsure"; readonly answer: TAnswer; readonly bound: Bound | null }
  | { readonly status: "refused" };

/** The outcome of each question, and the cost of the call. */
export interface SettledEvaluation<TQuestions extends Questions> {
  readonly answers: {
    readonly [TId in keyof TQuestions]: SettledAnswer<AnswerFor<TQuestions[TId]>>;
  };
  readonly usage: Usage | null;
  /** US dollars, or null if unknown. */
  readonly costUsd: number | null;
  /** The whole evaluation, or null if a question was refused. */
  readonly evaluation: Evaluation<TQuestions> | null;
}

/** Options of {@link evaluateSettled}. */
export interface SettledOptions<TId extends string = string> extends EvaluateOptions {
  /** When an answer is unsure, by question id. @default the bounds of `escalate`, else never */
  readonly bounds?: Bounds<TId> | undefined;
}

/**
 * Asks as `evaluate` does, and returns for each question whether it is answered, unsure or refused. A refusal of
 * one question does not cost the answers to the others.
 *
 * @throws {ConfigurationError} before anything is sent, when a bound is wrong or does not fit its question.
 * @throws {EvaluatorError} every error of `evaluate` except `RefusalError`.
 * @example
 * ```ts
 * const { answers } = await evaluateSettled(evaluator, request, { bounds: { scam: { below: 0.8 } } });
 * if (answers.scam.status === "answered") act(answers.scam.answer.probability);
 * ```
 */
export async function evaluateSettled<
  const TQuestions extends Questions,
  TState extends string | object,
>(
  evaluator: Pick<Evaluator, "evaluate">,
  request: EvaluationRequest<TQuestions & NonEmpty<TQuestions>, TState & StateOf<TState>>,
  { bounds: givenBounds, ...options }: SettledOptions<keyof TQuestions & string> = {},
): Promise<SettledEvaluation<TQuestions>> {
  const bounds: Bounds = parseBounds(givenBounds ?? {});
  const { questions } = request;
  await checkBounds(bounds, questions);
  const askedEvaluationRequest: EvaluationRequest = request as EvaluationRequest;
  const outcome = await evaluator.evaluate(askedEvaluationRequest, options).catch(toRefusal);
  const unsureIds = new Set(unsureIn(bounds, questions, outcome));
  const settleAnswer = (questionId: string): SettledAnswer<unknown> => {
    if (!Object.hasOwn(outcome.answers, questionId)) return { status: "refused" };
    const answer = outcome.answers[questionId];
    const bound = Object.hasOwn(bounds, questionId) ? (bounds[questionId] as Bound) : null;
    const isMarked = bound === null && outcome.route?.[questionId]?.isSure === false;
    if (unsureIds.has(questionId) || isMarked) return { status: "unsure", answer, bound };
    return { status: "answered", answer };
  };
  const answers = Object.fromEntries(
    Object.keys(questions).map((questionId) => [questionId, settleAnswer(questionId)]),
  );
  const { usage, costUsd } = outcome;
  const evaluation = "raw" in outcome ? outcome : null;
  return { answers, usage, costUsd, evaluation } as unknown as SettledEvaluation<TQuestions>;
}

/** Returns what a model answered beside the questions that it refused. @throws any other error */
function toRefusal(evaluationError: unknown) {
  if (!(evaluationError instanceof RefusalError)) throw evaluationError;
  const { usage, costUsd, rest } = evaluationError;
  const answers = evaluationError.answers as Evaluation["answers"];
  const { modelId = null, warnings = [] } = rest ?? {};
  return { answers, usage, costUsd, modelId, route: undefined, warnings };
}
