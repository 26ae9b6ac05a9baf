import { boolean, type Evaluator } from "evaluator-client";
import { cutMessage } from "../conversation/user-turns.ts";
import { reportLost } from "../decision/decide.ts";
import { evaluationUsd } from "../keys/call-price.ts";
import { computeMean } from "../labels/tier-points.ts";

/**
 * Asks the decision model whether each answer answers the question, once in each position: a model may
 * prefer the first. Returns the mean probabilities, and the cost with that of evaluations that were lost on the way.
 */
export async function judge(
  evaluator: Evaluator,
  { question, answers }: { readonly question: string; readonly answers: readonly string[] },
  judgeCall: { readonly signal: AbortSignal; readonly headers: Record<string, string> },
) {
  const orders = answers.map((_, by) => [...answers.slice(by), ...answers.slice(0, by)]);
  let lostCount = 0;
  const countedEvaluator = evaluator.with(reportLost((attempts) => void (lostCount += attempts)));
  const judgedEvaluations = await Promise.all(
    orders.map((order) => countedEvaluator.evaluate(toRequest(question, order), judgeCall)),
  );
  const qualities = answers.map((_, answerIndex) => {
    const answerShares = judgedEvaluations.map((evaluation, shiftCount) => {
      const shiftedPlace = (answerIndex - shiftCount + answers.length) % answers.length;
      return evaluation.answers[nameAt(shiftedPlace)]?.probability ?? 0;
    });
    return computeMean(answerShares);
  });
  const mostUsd = evaluationUsd(question + answers.join(""));
  const totalUsd = judgedEvaluations.reduce(
    (sum, { costUsd }) => sum + (costUsd ?? mostUsd),
    lostCount * mostUsd,
  );
  return { qualities, costUsd: totalUsd };
}

const toQuestion = (name: string) => boolean(`Does this answer the question? Read ${name}.`);

function toRequest(question: string, answerOrder: readonly string[]) {
  const namedAnswers = answerOrder.map((answer, at) => [nameAt(at), cutMessage(answer)] as const);
  return {
    state: { question: cutMessage(question), ...Object.fromEntries(namedAnswers) },
    questions: Object.fromEntries(namedAnswers.map(([name]) => [name, toQuestion(name)] as const)),
  };
}

function nameAt(answerIndex: number): string {
  return `answer_${answerIndex + 1}`;
}
