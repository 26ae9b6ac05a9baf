import { type KindName, type Question, questionKinds } from "../../questions/kinds.ts";
import type { BooleanQuestion } from "../../questions/kinds/boolean.ts";
import type { ChoiceQuestion } from "../../questions/kinds/choice.ts";
import type { ScoreQuestion } from "../../questions/kinds/score.ts";
import { booleanPrompt, choicePrompt, groupPrompt, scorePrompt } from "./prompt.ts";

/** Whether several readings cancel the model's bias for some labels. */
export type Debias = "raw" | "balanced";

/** One prompt whose first answered token is read. */
export interface Reading {
  /** The text after the state. */
  readonly prompt: string;
  readonly labels: readonly string[];
  /** Whether `Yes` counts as `yes`. */
  readonly foldsCase: boolean;
  /** The position of each label's option, level or group. */
  readonly optionOf: readonly number[];
}

/** Readings of the same options, to be averaged. */
export interface ReadingSet {
  readonly readings: readonly Reading[];
  /** `reduced` if there are fewer readings than options. */
  readonly debias: Debias | "reduced";
}

/** A part of many options, with its own readings. */
export interface Block {
  /** The positions of its options in the question. */
  readonly options: readonly number[];
  readonly set: ReadingSet;
}

/** How one question is asked. */
export interface QuestionPlan {
  /** Readings of all options at once; null for more options than letters. */
  readonly whole: ReadingSet | null;
  /** Numbered labels for all options, for servers with one token for each; else null. */
  readonly numbered: ReadingSet | null;
  /** Readings of the blocks, and of the options within each. */
  readonly blocks: { readonly groups: ReadingSet; readonly members: readonly Block[] } | null;
}

/** The most options with letters in one reading. Chosen: chats list at most 20 tokens. */
const MOST_LETTERS = 16;
/** The most options with a reading for each shift. Chosen: each shift is one more call. */
const MOST_SHIFTS = 8;
const letters = "ABCDEFGHIJKLMNOP".split("");

/** How questions of one kind are read by labels; each method gets only questions of its kind. */
interface LabelKind {
  plan(question: Question, debias: Debias): QuestionPlan;
  /** Returns the fields of an answer beside its type, from the probabilities of its keys. */
  toAnswer(probabilities: readonly number[], keys: readonly string[]): object;
}

// The letters and digits are enough for the limit of keys that each kind has.
const labelKinds: Readonly<Record<KindName, LabelKind>> = {
  choice: {
    plan: planChoice,
    toAnswer: (probabilities, keys) => ({
      choice: keys[indexOfHighest(probabilities)],
      probabilities: byKey(keys, probabilities),
    }),
  },
  score: {
    plan: (question: ScoreQuestion, debias) => wholePlan(scoreReadings(question, debias)),
    toAnswer(probabilities, keys) {
      const mean = probabilities.reduce((sum, probability, level) => sum + level * probability, 0);
      return {
        score: Math.min(mean, keys.length - 1),
        probabilities: byKey(keys, probabilities),
      };
    },
  },
  boolean: {
    plan: (question: BooleanQuestion, debias) => wholePlan(booleanReadings(question, debias)),
    toAnswer: ([, yes]) => ({ probability: Math.min(yes as number, 1) }),
  },
};

/** Plans a question for all states. */
export function planQuestion(question: Question, debias: Debias): QuestionPlan {
  return labelKinds[question.type].plan(question, debias);
}

/** Returns an answer in the gateway's form from the probabilities that were read for its keys. */
export function toAnswer(question: Question, probabilities: readonly number[]): object {
  const { type } = question;
  const keys = questionKinds[type].keys(question);
  return { type, ...labelKinds[type].toAnswer(probabilities, keys) };
}

/** Returns the position of the highest value; of equal ones, the first. */
export function indexOfHighest(values: readonly number[]): number {
  return values.indexOf(Math.max(...values));
}

function byKey(keys: readonly string[], probabilities: readonly number[]): object {
  return Object.fromEntries(keys.map((key, index) => [key, probabilities[index]]));
}

function planChoice(question: ChoiceQuestion, debias: Debias): QuestionPlan {
  const { instructions } = question;
  const texts = Object.entries(question.criteria).map(([name, text]) => `${name}: ${text}`);
  const shown = { instructions, debias, labels: letters, write: choicePrompt };
  if (texts.length <= MOST_LETTERS) return wholePlan(choiceReadings(texts, shown));
  const numbers = texts.map((_, index) => String(index + 1));
  const blocks = splitEvenly(texts.length);
  const textsOf = (options: readonly number[]) => options.map((option) => texts[option] as string);
  const groups = blocks.map((options) => textsOf(options).join(" | "));
  return {
    whole: null,
    numbered: choiceReadings(texts, { ...shown, labels: numbers }),
    blocks: {
      groups: choiceReadings(groups, { ...shown, write: groupPrompt }),
      members: blocks.map((options) => ({
        options,
        set: choiceReadings(textsOf(options), shown),
      })),
    },
  };
}

function wholePlan(whole: ReadingSet): QuestionPlan {
  return { whole, numbered: null, blocks: null };
}

/** Splits options into the fewest blocks of nearly equal size. */
function splitEvenly(count: number): readonly (readonly number[])[] {
  const blocks = Math.ceil(count / MOST_LETTERS);
  const startOf = (block: number) => Math.round((block * count) / blocks);
  return upTo(blocks).map((block) =>
    upTo(startOf(block + 1) - startOf(block)).map((index) => startOf(block) + index),
  );
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

function choiceReadings(
  texts: readonly string[],
  shown: {
    instructions: string;
    debias: Debias;
    labels: readonly string[];
    write: typeof choicePrompt;
  },
): ReadingSet {
  const { instructions, debias, write } = shown;
  const labels = shown.labels.slice(0, texts.length);
  const orders = arrange(texts.length, debias);
  const readings = orders.map((optionOf): Reading => {
    const lines = labels.map((label, index) => {
      return { label, text: texts[optionOf[index] as number] as string };
    });
    return { prompt: write(instructions, lines), labels, foldsCase: false, optionOf };
  });
  return { readings, debias: named(debias, orders.length, texts.length) };
}

function scoreReadings({ instructions, criteria }: ScoreQuestion, debias: Debias): ReadingSet {
  const forward = upTo(criteria.length);
  const labels = forward.map(String);
  const orders =
    debias === "raw" || criteria.length < 2 ? [forward] : [forward, forward.toReversed()];
  const readings = orders.map((optionOf): Reading => {
    // The order is its own inverse, so the label of a level is found in the same list.
    const lines = criteria.map((text, level) => ({ label: String(optionOf[level]), text }));
    return { prompt: scorePrompt(instructions, lines), labels, foldsCase: false, optionOf };
  });
  return { readings, debias: named(debias, orders.length, criteria.length) };
}

/** Position 0 is no, 1 is yes. */
function booleanReadings(question: BooleanQuestion, debias: Debias): ReadingSet {
  const proposals = debias === "raw" ? (["yes"] as const) : (["yes", "no"] as const);
  const readings = proposals.map((proposed): Reading => {
    const prompt = booleanPrompt(question, proposed);
    const optionOf = proposed === "yes" ? [1, 0] : [0, 1];
    return { prompt, labels: ["yes", "no"], foldsCase: true, optionOf };
  });
  return { readings, debias };
}

/** Returns the orders of the options: their cyclic shifts, or forward and reversed. */
function arrange(count: number, debias: Debias): readonly (readonly number[])[] {
  const forward = upTo(count);
  if (debias === "raw" || count < 2) return [forward];
  if (count > MOST_SHIFTS) return [forward, forward.toReversed()];
  return forward.map((shift) => forward.map((index) => (index + shift) % count));
}

/** Two readings cancel the labels' bias for two options only. */
function named(debias: Debias, readings: number, options: number): ReadingSet["debias"] {
  return debias === "balanced" && readings < options ? "reduced" : debias;
}
