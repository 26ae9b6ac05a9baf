import type { Basis, JudgedAnswer, Judgement } from "../answers/judgement.ts";
import type { EvaluationInput } from "../questions/question.ts";
import type { Trap } from "../call.ts";
import { promptQuestion, readPrompt } from "./read-prompt.ts";

/** A token that the played model might say first. */
export interface FirstToken {
  readonly token: string;
  readonly logprob: number;
}

/** All tokens that the played model might say first, likeliest first. */
interface FirstTokens {
  readonly tokens: readonly FirstToken[];
  readonly basis: Basis;
}

/** What a model says that begins with no label. */
const smallTalk: readonly (readonly [token: string, share: number])[] = [
  ["The", 0.5],
  ["I", 0.25],
  ["Well", 0.15],
  ["**", 0.1],
];
/** The share of the labels, of which a model that follows instructions leaves little; chosen. */
const labelShare = 0.97;
/** Far below the half that a client asks for (`minLabelMass` of ours). */
const lowLabelShare = 0.2;
/** A printed 0 is below 0.005. */
const smallest = 1e-4;

/** Returns the tokens that may begin the answer to a prompt, as the judge sees it. */
export function firstTokens(
  prompt: string,
  { answer, trap }: { answer: (input: EvaluationInput) => Judgement; trap: Trap | null },
): FirstTokens {
  const asked = readPrompt(prompt);
  if (asked === null) return { tokens: toTokens(smallTalk), basis: "none" };
  const { answers, basis } = answer(asked.input);
  const judged = answers[promptQuestion] as JudgedAnswer;
  const weights = asked.labels.map(({ label, stands }): [string, number] => {
    const share = stands.reduce((sum, option) => sum + probabilityOf(judged, option), 0);
    return [label, share + smallest];
  });
  const sum = weights.reduce((total, [, weight]) => total + weight, 0);
  const share = trap === "low-label-mass" ? lowLabelShare : labelShare;
  const labels = weights.map(([label, weight]): [string, number] => [
    label,
    (weight / sum) * share,
  ]);
  const others = smallTalk.map(([token, part]): [string, number] => [token, part * (1 - share)]);
  return { tokens: toTokens([...labels, ...others]), basis };
}

function probabilityOf(answer: JudgedAnswer, option: string): number {
  if (answer.type !== "boolean") return answer.probabilities[option] ?? 0;
  return option === "yes" ? answer.probability : 1 - answer.probability;
}

function toTokens(shares: readonly (readonly [string, number])[]): FirstToken[] {
  return shares
    .map(([token, share]) => ({ token, logprob: Math.log(share) }))
    .toSorted((a, b) => b.logprob - a.logprob);
}

/** Returns what of the tokens is listed: so many, and spoilt where a trap is asked for. */
export function listTokens(
  tokens: readonly FirstToken[],
  { depth, trap }: { depth: number; trap: Trap | null },
): readonly FirstToken[] {
  const listed = tokens.slice(0, trap === "short-list" ? 1 : depth);
  if (trap === "thinking-first") return [{ token: "<think>", logprob: Math.log(0.99) }];
  if (trap === "probability-as-logprob") {
    return listed.map(({ token, logprob }) => ({ token, logprob: Math.exp(logprob) }));
  }
  if (trap !== "filler") return listed;
  const [first] = listed;
  const fillers = listed.slice(1).map(({ token }) => ({ token, logprob: -9999 }));
  return first === undefined ? fillers : [first, ...fillers];
}
