import { boolean, type Evaluator } from "evaluator-client";
import { rank } from "evaluator-client/rank";

const question = boolean("Does the candidate, a help page, answer the question in the state?");

/** Returns the help pages that answer a question, the best first; pages with equal answers share a rank. */
export async function findAnswer(
  asked: string,
  { pages, evaluator }: { readonly pages: readonly string[]; readonly evaluator: Evaluator },
) {
  const ranked = await rank(evaluator, {
    state: asked,
    candidates: pages,
    question,
    concurrency: 4,
  });
  const failed = ranked.find(({ error }) => error !== null);
  if (failed?.error) throw failed.error;
  return ranked.filter(({ value }) => value !== null && value >= 0.5);
}
