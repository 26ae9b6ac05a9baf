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
  const [valueField] = questionKinds[question.type].values(question);
  if (valueField.form !== "probability" && valueField.form !== "number")
    rejectOption("question", `is a ${question.type} question; use boolean or score`);
  const requests = candidates.map((candidate) => ({
    state: { state, candidate },
    questions: { value: question },
  })) as unknown as EvaluationRequest[];
  const rankedValues: (number | Error)[] = [];
  for await (const batchItem of evaluator.evaluateMany(requests, options)) {
    const answer =
      batchItem.status === "succeeded" ? batchItem.evaluation.answers["value"] : undefined;
    const value = answer && valuesOf(question, answer)[0]?.value;
    rankedValues.push(typeof value === "number" ? value : (batchItem as { error: Error }).error);
  }
  const candidatePlaces = candidates.map((candidate, candidateIndex) => ({
    candidate,
    value: rankedValues[candidateIndex],
  }));
  const toValue = (rankedPlace: (typeof candidatePlaces)[number] | undefined) =>
    typeof rankedPlace?.value === "number" ? rankedPlace.value : null;
  const sortedItems = candidatePlaces.toSorted(
    (leftPlace, rightPlace) => (toValue(rightPlace) ?? -1) - (toValue(leftPlace) ?? -1),
  );
  let betterCount = 0;
  return sortedItems.map((place, index) => {
    const { candidate } = place;
    const value = toValue(place);
    const error = place.value instanceof Error ? place.value : null;
    if (value === null) return { candidate, value, rank: null, isTied: false, error };
    if (value !== toValue(sortedItems[index - 1])) betterCount = index;
    const isTied = betterCount < index || value === toValue(sortedItems[index + 1]);
    return { candidate, value, rank: betterCount + 1, isTied, error };
  });
}
