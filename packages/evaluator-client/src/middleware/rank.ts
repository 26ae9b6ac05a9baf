import { rejectOption } from "../options.ts";
import type { Evaluator } from "../evaluator.ts";
import type { EvaluateManyOptions } from "../evaluator-options.ts";
import { questionKinds, valuesOf } from "../questions/kinds.ts";
import type { BooleanQuestion } from "../questions/kinds/boolean.ts";
import type { ScoreQuestion } from "../questions/kinds/score.ts";
import type { EvaluationRequest } from "../questions/request.ts";

/** What to rank: candidates, a question about each, and the state that all of them share. */
export interface Ranking<TCandidate> extends Omit<EvaluateManyOptions, "order"> {
  readonly candidates: readonly TCandidate[];
  /** The score, or the probability of yes, ranks a candidate. */
  readonly question: BooleanQuestion | ScoreQuestion;
  /** What the candidates are for, text or JSON. */
  readonly state: unknown;
}

/** A candidate with its place. */
export interface RankedCandidate<TCandidate> {
  readonly candidate: TCandidate;
  /** The probability of yes, 0 to 1, or the score; null if it has no answer. */
  readonly value: number | null;
  /** From 1; equal values have the same, and the next is as many later. Null without an answer. */
  readonly rank: number | null;
  /** Whether another candidate has the same value. */
  readonly isTied: boolean;
  /** Why it has no answer, or null. */
  readonly error: Error | null;
}

/**
 * Asks one question about each candidate, all with the same state, and returns the candidates from the highest
 * value to the lowest. Those without an answer are last, with their errors.
 *
 * @example
 * ```ts
 * const question = boolean("Does the candidate answer the question of the state?");
 * const [best] = await rank(evaluator, { state: "How do I get a refund?", candidates: pages, question });
 * ```
 */
export async function rank<TCandidate>(
  evaluator: Pick<Evaluator, "evaluateMany">,
  { candidates, question, state, ...options }: Ranking<TCandidate>,
): Promise<RankedCandidate<TCandidate>[]> {
  const [field] = questionKinds[question.type].values(question);
  if (field.form !== "probability" && field.form !== "number")
    rejectOption("question", `is a ${question.type} question; use boolean or score`);
  const requests = candidates.map((candidate) => ({
    state: { state, candidate },
    questions: { value: question },
  })) as unknown as EvaluationRequest[];
  const values: (number | Error)[] = [];
  for await (const item of evaluator.evaluateMany(requests, options)) {
    const answer = item.status === "succeeded" ? item.evaluation.answers["value"] : undefined;
    const value = answer && valuesOf(question, answer)[0]?.value;
    values.push(typeof value === "number" ? value : (item as { error: Error }).error);
  }
  const places = candidates.map((candidate, index) => ({ candidate, value: values[index] }));
  const toValue = (place: (typeof places)[number] | undefined) =>
    typeof place?.value === "number" ? place.value : null;
  const sortedItems = places.toSorted(
    (one, other) => (toValue(other) ?? -1) - (toValue(one) ?? -1),
  );
  let better = 0;
  return sortedItems.map((place, index) => {
    const { candidate } = place;
    const value = toValue(place);
    const error = place.value instanceof Error ? place.value : null;
    if (value === null) return { candidate, value, rank: null, isTied: false, error };
    if (value !== toValue(sortedItems[index - 1])) better = index;
    const isTied = better < index || value === toValue(sortedItems[index + 1]);
    return { candidate, value, rank: better + 1, isTied, error };
  });
}
