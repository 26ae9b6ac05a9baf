import { printAtMost } from "evaluator-kit/print-share";
import type { Cause, Decision } from "../../decision/decision.ts";
import type { Tier } from "../../decision/tier-question.ts";
import { toCopy, duration, toPart, percent, reveal, toFact } from "./elements.ts";
import { tiers } from "./router.ts";

/** Shows who replies and why, with the shares of the tiers. */
export function showDecision(card: HTMLElement, decision: Decision): void {
  const decisionView = reveal(card, ".decision");
  decisionView.dataset["tier"] = decision.tierUsed ?? "none";
  toPart(decisionView, ".badge").textContent = decision.tierUsed;
  toPart(decisionView, ".model").textContent = decision.model;
  const foundDoubt = findDoubt(decision);
  decisionView.classList.toggle("doubtful", foundDoubt !== null);
  const reason = reasons[decision.cause]?.(decision) ?? foundDoubt;
  if (reason !== null) reveal(decisionView, ".cause").textContent = reason;
  const { probabilities } = decision;
  const shares = probabilities === null ? [] : tiers.map((tier) => toShare(tier, decision));
  toPart(decisionView, ".shares").replaceChildren(...shares);
  toPart(decisionView, ".facts").replaceChildren(...listFacts(decision).map(toFact));
}

/** Null for the choice itself, and for causes at `/v1` only. */
const reasons: Record<Cause, ((decision: Decision) => string) | null> = {
  choice: null,
  requested: null,
  turn: null,
  "warm-cache": null,
  task: null,
  shadow: null,
  key: ({ model }) => `This key may not use the choice; ${model} replies.`,
  budget: ({ tierUsed }) => `The budget of this key has room for ${tierUsed} at most.`,
  capability: ({ model }) => `The model of the choice cannot take this message; ${model} replies.`,
  "low-confidence": ({ tierChosen, tierUsed }) =>
    `The choice was ${tierChosen}, with too little confidence; the next tier up, ${tierUsed}, replies.`,
  "evaluation-failed": failureTierReplies("The evaluation failed"),
  "decision-timeout": failureTierReplies("The decision took too long"),
  "calibration-mismatch": failureTierReplies("The calibration was made for another model"),
  fit: ({ tierUsed }) => `A fit to labels chose ${tierUsed}.`,
  "model-refused": ({ tierUsed }) =>
    `The model of ${tierUsed} was refused; the fallback model replies.`,
  "model-failed": ({ tierUsed }) => `The model of ${tierUsed} failed; the fallback model replies.`,
};

function failureTierReplies(failure: string) {
  return ({ tierUsed }: Decision) =>
    `${failure}; ${tierUsed} replies, as the router is set up to do.`;
}

/** Shares closer than this, or a confidence below a half, are worth a second look. Chosen. */
const CLOSE_SHARES = 0.1;
const LOW_CONFIDENCE = 0.5;

/** Describes a choice in doubt; null for a clear one. */
function findDoubt({ probabilities, confidence, tierChosen }: Decision): string | null {
  if (probabilities === null || tierChosen === null) return null;
  const [first, second] = tiers.toSorted((one, other) => probabilities[other] - probabilities[one]);
  if (first === undefined || second === undefined) return null;
  const isClose = probabilities[first] - probabilities[second] < CLOSE_SHARES;
  if (!isClose && (confidence ?? 1) >= LOW_CONFIDENCE) return null;
  const shareTexts = [first, second].map((tier) => `${tier} ${percent(probabilities[tier])}`);
  return `A choice in doubt: ${shareTexts.join(", ")}.`;
}

function toShare(tier: Tier, { probabilities, tierChosen }: Decision): HTMLElement {
  const probability = probabilities?.[tier] ?? 0;
  const shareElement = toCopy("share");
  shareElement.dataset["tier"] = tier;
  shareElement.classList.toggle("chosen", tier === tierChosen);
  toPart(shareElement, "dt").textContent = tier;
  toPart(shareElement, ".bar").style.setProperty("--share", String(probability));
  toPart(shareElement, ".percent").textContent = percent(probability);
  return shareElement;
}

function listFacts(decision: Decision): [name: string, value: string][] {
  const { tierChosen, printedProbabilities, confidence, promise, decisionMs } = decision;
  const printedProbability = tierChosen === null ? undefined : printedProbabilities?.[tierChosen];
  return [
    printedProbability === undefined
      ? ["confidence", confidence === null ? "not given" : confidence.toFixed(2)]
      : ["calibrated from", percent(printedProbability)],
    ...(promise === null ? [] : [["promise", describePromise(promise)] as [string, string]]),
    ["decided in", duration(decisionMs)],
  ];
}

function describePromise(promise: NonNullable<Decision["promise"]>): string {
  if (promise.act === null) return "none";
  return `at most ${printAtMost(promise.evidence.maxRisk)} wrong`;
}
