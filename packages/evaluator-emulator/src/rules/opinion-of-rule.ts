import type { Opinion } from "../judge/opinion.ts";
import type { QuestionInput } from "../questions/evaluation-input.ts";
import type { RuleAnswer } from "./rule.ts";

/**
 * A rule's answer as an opinion on a question; null when it does not fit the question.
 * Options and levels it leaves out share what is left of 1.
 */
export function opinionOfRule(question: QuestionInput, answer: RuleAnswer): Opinion | null {
  if (question.type === "boolean") {
    return typeof answer === "number" ? { probabilities: [answer], isInformed: true } : null;
  }
  if (typeof answer === "number") return null;
  const probabilities = fillShares(Object.keys(question.criteria), answer);
  return probabilities === null ? null : { probabilities, isInformed: true };
}

function fillShares(
  names: readonly string[],
  shares: Readonly<Record<string, number>>,
): number[] | null {
  const given = Object.keys(shares);
  if (!given.every((name) => names.includes(name))) return null;
  const sum = Object.values(shares).reduce((total, share) => total + share, 0);
  const rest = Math.max(0, 1 - sum) / (names.length - given.length);
  const filled = names.map((name) => (Object.hasOwn(shares, name) ? (shares[name] ?? 0) : rest));
  const total = filled.reduce((whole, share) => whole + share, 0);
  return total > 0 ? filled.map((share) => share / total) : null;
}
