import type { Basis, Judgement } from "../answers/judgement.ts";
import type { Trap } from "../faults/fault.ts";
import type { Content } from "../questions/content.ts";
import type { EvaluationInput } from "../questions/evaluation-input.ts";
import { type JudgedAnswer, questionOfPrompt } from "../questions/kinds/kinds.ts";

/** A token with which the played model might begin. */
export interface FirstToken {
  readonly token: string;
  readonly logprob: number;
}

/** The first tokens of answers without a label. */
const smallTalk: readonly (readonly [token: string, share: number])[] = [
  ["The", 0.5],
  ["I", 0.25],
  ["Well", 0.15],
  ["**", 0.1],
];
/** The share of the labels if the model follows instructions; chosen. */
const labelShare = 0.97;
/** Far below the client's default `minLabelMass`, a half. */
const lowLabelShare = 0.2;
/** A printed 0 is below 0.005. */
const smallest = 1e-4;

/** Returns the possible first tokens of the answer to a prompt, likeliest first, by the judge. */
export function firstTokens(
  prompt: string,
  { answer, trap }: { answer: (input: EvaluationInput) => Judgement; trap: Trap | null },
): { readonly tokens: readonly FirstToken[]; readonly basis: Basis } {
  const asked = readPrompt(prompt);
  if (asked === null) return { tokens: toTokens(smallTalk), basis: "none" };
  const { state, question } = asked;
  const { answers, basis } = answer({ state, questions: { question } });
  const { probabilities } = answers["question"] as JudgedAnswer;
  // A yes/no answer has the probability of "yes" only.
  const shareOf = (name: string) => probabilities[name] ?? 1 - (probabilities["yes"] ?? 1);
  const weights = asked.labels.map(({ label, stands }): [string, number] => {
    return [label, stands.reduce((sum, name) => sum + shareOf(name), smallest)];
  });
  const sum = weights.reduce((total, [, weight]) => total + weight, 0);
  const share = trap === "low-label-mass" ? lowLabelShare : labelShare;
  const labels = weights.map(([label, weight]) => [label, (weight / sum) * share] as const);
  const others = smallTalk.map(([token, part]) => [token, part * (1 - share)] as const);
  return { tokens: toTokens([...labels, ...others]), basis };
}

function toTokens(shares: readonly (readonly [string, number])[]): FirstToken[] {
  return shares
    .map(([token, share]) => ({ token, logprob: Math.log(share) }))
    .toSorted((a, b) => b.logprob - a.logprob);
}

/** Returns the listed tokens, at most `depth` of them, changed by a trap. */
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
  return listed.map(({ token, logprob }, index) => {
    return { token, logprob: index === 0 ? logprob : -9999 };
  });
}

const stateStart = "\nSTATE\n";
const stateEnd = "\nEND OF STATE\n";
const proposal = /^Is the answer to this question (yes|no)\?/m;

/** Reads a prompt that lists labels, or returns null for another kind of prompt. */
function readPrompt(prompt: string) {
  const [, afterStart] = splitOnce(prompt, stateStart);
  const [stateText, asked] = splitOnce(afterStart, stateEnd);
  const [, question] = splitOnce(asked, "Question: ");
  if (question === "") return null;
  const [instructions] = splitOnce(question, "\n\n");
  const proposed = proposal.exec(asked)?.[1] ?? null;
  const lines = [...asked.matchAll(/^(\w{1,3})\) (.*)$/gm)].map(([, label = "", text = ""]) => {
    return { label, text };
  });
  const read = questionOfPrompt({ instructions, proposed, lines });
  return read === null ? null : { ...read, state: readState(stateText) };
}

function readState(text: string): Content {
  try {
    return JSON.parse(text) as Content;
  } catch {
    return text;
  }
}

function splitOnce(text: string, mark: string): [before: string, after: string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + mark.length)];
}
