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
  call: { readonly signal: AbortSignal; readonly headers: Record<string, string> },
) {
  const orders = answers.map((_, by) => [...answers.slice(by), ...answers.slice(0, by)]);
  let lostCount = 0;
  const countedEvaluator = evaluator.with(reportLost((attempts) => void (lostCount += attempts)));
  const judgedEvaluations = await Promise.all(
    orders.map((order) => countedEvaluator.evaluate(toRequest(question, order), call)),
  );
  const qualities = answers.map((_, at) => {
    const shares = judgedEvaluations.map((evaluation, by) => {
      const place = (at - by + answers.length) % answers.length;
      return evaluation.answers[nameAt(place)]?.probability ?? 0;
    });
    return computeMean(shares);
  });
  const mostUsd = evaluationUsd(question + answers.join(""));
  const usd = judgedEvaluations.reduce(
    (sum, { costUsd }) => sum + (costUsd ?? mostUsd),
    lostCount * mostUsd,
  );
  return { qualities, costUsd: usd };
}

const toQuestion = (name: string) => boolean(`Does this answer the question? Read ${name}.`);

function toRequest(question: string, order: readonly string[]) {
  const namedAnswers = order.map((answer, at) => [nameAt(at), cutMessage(answer)] as const);
  return {
    state: { question: cutMessage(question), ...Object.fromEntries(namedAnswers) },
    questions: Object.fromEntries(namedAnswers.map(([name]) => [name, toQuestion(name)] as const)),
  };
}

function nameAt(at: number): string {
  return `answer_${at + 1}`;
}
