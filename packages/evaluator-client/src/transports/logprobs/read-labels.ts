import { InvalidResponseError } from "../../errors.ts";
import { quoteName } from "../../questions/json.ts";
import { indexOfHighest, type Reading } from "./question-plan.ts";

/** One token the model might have begun its answer with. */
export interface TokenLogprob {
  /** Its text as the server prints it, leading space included. */
  readonly text: string;
  /** The natural logarithm of its probability. */
  readonly logprob: number;
}

/** What the first position of an answer says about the labels. */
export interface LabelReading {
  /** Natural logarithm of each label's probability, unnormalised; of its upper bound where unseen. */
  readonly logWeights: readonly number[];
  /** Probability of all seen labels together. */
  readonly labelMass: number;
  /** Probability that all labels, unseen ones included, hold at most. */
  readonly mostMass: number;
  /** What the unseen labels may hold at most, as a share of the label mass. */
  readonly unseenShare: number;
  /** The likeliest token's text. */
  readonly topToken: string;
}

/** What vLLM prints where there is no value, and what llama.cpp prints for none at all. */
const FILLER = -9999;
/** Probabilities in half precision add up to a little over 1. */
const SUM_TOLERANCE = 0.01;

/**
 * Reads the labels from the tokens of one position. A label that is not among them has the smallest
 * listed probability as its upper bound.
 *
 * @throws InvalidResponseError when the values are no log-probabilities.
 */
export function readLabels(
  tokens: readonly TokenLogprob[],
  { reading, questionId }: { reading: Reading; questionId: string },
): LabelReading {
  const listed = tokens.filter(({ logprob }) => !(logprob <= FILLER));
  checkLogprobs(listed, questionId);
  const { labels, foldsCase } = reading;
  const masses = new Map(labels.map((label): [string, number] => [label, 0]));
  for (const { text, logprob } of listed) {
    const label = foldToken(text, foldsCase);
    const mass = masses.get(label);
    if (mass !== undefined) masses.set(label, mass + Math.exp(logprob));
  }
  return weigh(
    labels.map((label) => masses.get(label) as number),
    listed,
  );
}

function weigh(masses: readonly number[], listed: readonly TokenLogprob[]): LabelReading {
  const sum = listed.reduce((total, { logprob }) => total + Math.exp(logprob), 0);
  const smallest = Math.min(...listed.map(({ logprob }) => logprob));
  const labelMass = masses.reduce((sum, mass) => sum + mass, 0);
  const unseenMass = masses.filter((mass) => mass === 0).length * Math.exp(smallest);
  const [top] = listed.toSorted((a, b) => b.logprob - a.logprob);
  return {
    logWeights: masses.map((mass) => (mass === 0 ? smallest : Math.log(mass))),
    labelMass: Math.min(labelMass, 1),
    mostMass: labelMass + Math.min(unseenMass, Math.max(0, 1 - sum)),
    unseenShare: unseenMass === 0 ? 0 : unseenMass / labelMass,
    topToken: top?.text ?? "",
  };
}

/** Returns what a token may be the label of: without its leading space, and for words without case. */
function foldToken(text: string, foldsCase: boolean): string {
  // Some servers print the tokenizer's own sign for a space.
  return foldsCase ? text.replace(/^[▁Ġ]/, "").trim().toLowerCase() : text.replace(/^[ ▁Ġ]/, "");
}

function checkLogprobs(listed: readonly TokenLogprob[], questionId: string): void {
  let sum = 0;
  for (const { logprob } of listed) {
    if (!(logprob <= 0)) {
      const what = "has a logprob above 0, so the server put something else there";
      reject(questionId, { rule: "logprob-range", what });
    }
    sum += Math.exp(logprob);
  }
  if (sum <= 1 + SUM_TOLERANCE) return;
  const what = `has log-probabilities that add up to ${sum.toFixed(2)}, so they are something else`;
  reject(questionId, { rule: "logprob-sum", what });
}

function reject(questionId: string, { rule, what }: { rule: string; what: string }): never {
  const message = `The answer ${quoteName(questionId)} ${what} (rule ${rule}); it is not used. Update the server, or name it in the option "server".`;
  throw new InvalidResponseError(message, { questionId, rule });
}

/** What several readings of the same options say together. */
export interface Distribution {
  /** Probability of each option, by its position; their sum is 1. */
  readonly probabilities: readonly number[];
  /** Whether the readings disagreed about the likeliest option. */
  readonly flips: boolean;
}

/**
 * Returns the normalised geometric mean of readings: what a label multiplies to its option's
 * probability in one reading, it multiplies to another option's in the next, and so it cancels.
 */
export function combineReadings(
  read: readonly { readonly reading: Reading; readonly labels: LabelReading }[],
): Distribution {
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
  const winners = byOption.map(indexOfHighest);
  return { probabilities: softmax(means), flips: new Set(winners).size > 1 };
}

function softmax(logWeights: readonly number[]): number[] {
  const highest = Math.max(...logWeights);
  const weights = logWeights.map((weight) => Math.exp(weight - highest));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}
