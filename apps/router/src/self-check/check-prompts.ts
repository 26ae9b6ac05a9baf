import type { ChatResponse } from "../routes/chat-response.ts";
import type { Tier } from "../tier-question.ts";
import { type Expectation, type SelfCheckPrompt, selfCheckPrompts } from "./prompts.ts";

/** What the prompts are checked with. */
export interface PromptCheck {
  /** Asks the router, as `POST /chat` does. */
  readonly ask: (message: string) => Promise<ChatAnswer>;
  /** Prints a text. */
  readonly write: (text: string) => void;
}

/** Asks the three prompts one after the other, prints each outcome, and returns whether all passed. */
export async function checkPrompts({ ask, write }: PromptCheck): Promise<boolean> {
  let failed = 0;
  for (const prompt of selfCheckPrompts) {
    const answer = await ask(prompt.message);
    const failures = findFailures(answer, prompt.expected);
    write(describeOutcome(prompt, answer, failures));
    if (failures.length > 0) failed += 1;
  }
  write(`${selfCheckPrompts.length - failed} of ${selfCheckPrompts.length} prompts passed\n`);
  return failed === 0;
}

function describeOutcome(
  { kind }: SelfCheckPrompt,
  answer: ChatAnswer,
  failures: readonly string[],
): string {
  const verdict = failures.length === 0 ? "ok     " : "failure";
  const lines = [`${verdict}  ${kind}: ${describeDecision(answer)}`, ...failures];
  return `${lines.join("\n         ")}\n`;
}

function describeDecision(answer: ChatAnswer): string {
  if ("error" in answer) return "no decision";
  const shares = rankShares(answer.probabilities).map(([tier, share]) => `${tier} ${share}`);
  return `${answer.tier} (${shares.join(", ")})`;
}

/** What `POST /chat` answers: the contract's fields, or why there is no decision. */
export type ChatAnswer = ChatResponse | { readonly error: string };

/** Returns what is wrong with an answer, with the error text that emptied a field where one did. */
export function findFailures(answer: ChatAnswer, expected: Expectation): string[] {
  if ("error" in answer) return [`no tier was chosen: ${answer.error}`];
  return [...decisionFailures(answer, expected), ...replyFailures(answer)];
}

/** Returns the tiers and their shares, the largest first. */
function rankShares(probabilities: ChatResponse["probabilities"]): [Tier, number][] {
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
