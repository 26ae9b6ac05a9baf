import type { ChatResponse } from "../chat/chat-response.ts";
import type { Tier } from "../tier-question.ts";
import type { Expectation } from "./self-check-prompts.ts";

/** What `POST /chat` answers: the contract's fields, or why there is no decision. */
export type ChatAnswer = ChatResponse | { readonly error: string };

/** Says what is wrong with an answer, with the error text that emptied a field where one did. */
export function findFailures(answer: ChatAnswer, expected: Expectation): string[] {
  if ("error" in answer) return [`no tier was chosen: ${answer.error}`];
  return [...decisionFailures(answer, expected), ...replyFailures(answer)];
}

/** The tiers and their shares, the largest first. */
export function rankShares(probabilities: ChatResponse["probabilities"]): [Tier, number][] {
  const shares = Object.entries(probabilities) as [Tier, number][];
  return shares.toSorted(([, a], [, b]) => b - a);
}

function* decisionFailures({ tier, probabilities }: ChatResponse, expected: Expectation) {
  if (expected.tier !== undefined && tier !== expected.tier) {
    yield `the tier is ${tier}; expected ${expected.tier}`;
  }
  const { minority, topTwo } = expected;
  if (minority !== undefined && !isBetween(probabilities[minority], 0, probabilities[tier])) {
    yield `${minority} has a share of ${probabilities[minority]}; expected a minority`;
  }
  const leaders = rankShares(probabilities).slice(0, 2);
  if (topTwo !== undefined && leaders.some(([leader]) => !topTwo.includes(leader))) {
    yield `the top two shares are not those of ${topTwo.join(" and ")}`;
  }
}

function* replyFailures({ model, reply, replyError }: ChatResponse) {
  if (reply !== "") return;
  yield `the reply model ${model} failed, not the router: ${replyError ?? "it gave no text"}`;
}

function isBetween(share: number, low: number, high: number): boolean {
  return share > low && share < high;
}
