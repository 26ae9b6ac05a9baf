import { boolean, type Evaluator } from "evaluator-client";
import { cutMessage } from "../conversation/user-turns.ts";

interface Judged {
  readonly question: string;
  /** Different answers. Each is judged once in each position, because a model may prefer the first. */
  readonly answers: readonly string[];
}

/** Asks the decision model whether each answer answers the question. Returns the mean probabilities. */
export async function judge(
  evaluator: Evaluator,
  { question, answers }: Judged,
  call: { readonly signal: AbortSignal; readonly headers: Record<string, string> },
) {
  const orders = answers.map((_, by) => [...answers.slice(by), ...answers.slice(0, by)]);
  const judged = await Promise.all(
    orders.map((order) => evaluator.evaluate(requestOf(question, order), call)),
  );
  const qualities = answers.map((_, at) => {
    const shares = judged.map((evaluation, by) => {
      const place = (at - by + answers.length) % answers.length;
      return evaluation.answers[nameAt(place)]?.probability ?? 0;
    });
    return shares.reduce((sum, share) => sum + share / shares.length, 0);
  });
  return { qualities, costUsd: judged.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0) };
}

function requestOf(question: string, order: readonly string[]) {
  const named = order.map((answer, at) => [nameAt(at), cutMessage(answer)] as const);
  const questions = named.map(
    ([name]) => [name, boolean(`Does this answer the question? Read ${name}.`)] as const,
  );
  return {
    state: { question: cutMessage(question), ...Object.fromEntries(named) },
    questions: Object.fromEntries(questions),
  };
}

function nameAt(at: number): string {
  return `answer_${at + 1}`;
}
