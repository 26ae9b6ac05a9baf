import { type ChatAnswer, findFailures, rankShares } from "./find-failures.ts";
import { type SelfCheckPrompt, selfCheckPrompts } from "./self-check-prompts.ts";

/** What the prompts are checked with. */
export interface PromptCheck {
  /** Asks the router, as `POST /chat` does. */
  readonly ask: (message: string) => Promise<ChatAnswer>;
  /** Prints a text. */
  readonly write: (text: string) => void;
}

/** Asks the three prompts one after the other, prints each outcome, and gives whether all passed. */
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
