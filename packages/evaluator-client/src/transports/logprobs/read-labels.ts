import { rejectAnswer } from "../../questions/rejections.ts";
import type { FirstToken } from "./label-servers.ts";
import type { Reading } from "./question-plan.ts";

interface LabelReading {
  /** Natural logarithm of each label's probability, or of its upper bound if it is not listed. */
  readonly logWeights: readonly number[];
  /** Total probability of the listed labels. */
  readonly labelMass: number;
  /** The highest total probability of all labels. */
  readonly mostMass: number;
  /** The most that unlisted labels may have, as a share of the label mass. */
  readonly unseenShare: number;
  readonly topToken: string;
}

/** The value that vLLM and llama.cpp print for no value. */
const FILLER = -9999;
/** Probabilities in half precision add up to a little over 1. */
const SUM_TOLERANCE = 0.01;

/** Reads the labels from the tokens of one position; an unlisted label has at most the smallest listed probability. */
export function readLabels(tokens: FirstToken["tokens"], reading: Reading, questionId: string) {
  const listedTokenLogprobs = tokens.filter(({ logprob }) => !(logprob <= FILLER));
  const sum = checkedSum(listedTokenLogprobs, questionId);
  const { labels, foldsCase } = reading;
  const masses = new Map(labels.map((label): [string, number] => [label, 0]));
  for (const { text, logprob } of listedTokenLogprobs) {
    const label = foldToken(text, foldsCase);
    const mass = masses.get(label);
    if (mass !== undefined) masses.set(label, mass + Math.exp(logprob));
  }
  return weigh([...masses.values()], listedTokenLogprobs, sum);
}

function weigh(
  masses: readonly number[],
  listedTokens: FirstToken["tokens"],
  sum: number,
): LabelReading {
  const smallest = Math.min(...listedTokens.map(({ logprob }) => logprob));
  const labelMass = masses.reduce((total, mass) => total + mass, 0);
  const unseenMass = masses.filter((mass) => mass === 0).length * Math.exp(smallest);
  const [top] = listedTokens.toSorted((a, b) => b.logprob - a.logprob);
  return {
    logWeights: masses.map((mass) => (mass === 0 ? smallest : Math.log(mass))),
    labelMass: Math.min(labelMass, 1),
    mostMass: labelMass + Math.min(unseenMass, Math.max(0, 1 - sum)),
    unseenShare: unseenMass === 0 ? 0 : unseenMass / labelMass,
    topToken: top?.text ?? "",
  };
}

/** Returns a token as a label: without its leading space, and in lower case for words. */
function foldToken(text: string, foldsCase: boolean): string {
  // Some servers print the tokenizer's mark for a space.
  return foldsCase ? text.replace(/^[▁Ġ]/, "").trim().toLowerCase() : text.replace(/^[ ▁Ġ]/, "");
}

/** Returns the total probability of the tokens. */
function checkedSum(listedTokens: FirstToken["tokens"], questionId: string): number {
  let sum = 0;
  for (const { logprob } of listedTokens) {
    if (!(logprob <= 0)) reject(questionId, "logprob-range", "has a logprob above 0");
    sum += Math.exp(logprob);
  }
  if (sum <= 1 + SUM_TOLERANCE) return sum;
  return reject(questionId, "logprob-sum", `has probabilities that sum to ${sum.toFixed(2)}`);
}

function reject(questionId: string, rule: string, flaw: string): never {
  const advice = 'Update the server, or name it in the option "server".';
  return rejectAnswer(questionId, { rule, flaw, advice });
}

/**
 * Returns the normalised geometric mean of readings as the probability of each option, and whether they
 * disagree about the likeliest. A label's bias multiplies another option in each reading, so it cancels.
 */
export function combineReadings(
  read: readonly { readonly reading: Reading; readonly labels: LabelReading }[],
) {
  const byOption = read.map(({ reading, labels }) => {
    const weights = Array.from<number>({ length: reading.optionOf.length });
    for (const [label, option] of reading.optionOf.entries()) {
      weights[option] = labels.logWeights[label] as number;
    }
    return weights;
  });
  const [first = []] = byOption;
  // The normalisation of each reading is the same for all its options, so it cancels as well.
  const means = first.map((_, option) => {
    return byOption.reduce((sum, weights) => sum + (weights[option] as number), 0) / read.length;
  });
  const winners = byOption.map((weights) => weights.indexOf(Math.max(...weights)));
  return { probabilities: softmax(means), flips: new Set(winners).size > 1 };
}

function softmax(logWeights: readonly number[]): number[] {
  const highest = Math.max(...logWeights);
  const weights = logWeights.map((weight) => Math.exp(weight - highest));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}
