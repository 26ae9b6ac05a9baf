import * as z from "zod/mini";
import { InvalidRequestError } from "../../errors.ts";
import {
  checkDistribution,
  distributionOver,
  frozenCopy,
  probability,
  recordInOrder,
  toRecord,
  roundingError,
  TOLERANCE,
} from "../json.ts";
import { type Wording, wordingSchema, wordingText } from "../wording.ts";
import type { NonEmpty, KindOf } from "./kind.ts";

/** A question that picks one of named options; names and descriptions are both read by the model. */
export const choiceQuestionSchema = /* @__PURE__ */ (() =>
  z.strictObject({
    type: z.literal("choice"),
    instructions: wordingSchema(),
    criteria: toRecord(z.nullable(wordingSchema())),
  }))();
/** See {@link choiceQuestionSchema}. */
export interface ChoiceQuestion<TOption extends string = string> {
  readonly type: "choice";
  /** The question. */
  readonly instructions: Wording;
  /** Option name to description, at least one; null if the name says enough. */
  readonly criteria: Readonly<Record<TOption, Wording | null>>;
}

/** The answer to a choice question: the picked option and a probability for every option. */
export const choiceAnswerSchema = /* @__PURE__ */ (() =>
  z.looseObject({
    type: z.literal("choice"),
    choice: z.string(),
    probabilities: toRecord(probability()),
  }))();
/** See {@link choiceAnswerSchema}. */
export interface ChoiceAnswer<TOption extends string = string> {
  type: "choice";
  /** The picked option's name. */
  choice: TOption;
  /** Option name to probability, 0..1, rounded by the service. */
  probabilities: Record<TOption, number>;
}

/** Options in the order in which the model reads them, each a name and a description. */
export type OptionList<TOption extends string = string> = readonly (readonly [
  TOption,
  Wording | null,
])[];

/**
 * Builds a question that picks exactly one of the named options. Their order is input to the model: write
 * names that look like integers as a list, since JavaScript sorts them in an object.
 *
 * @throws {InvalidRequestError} when a list is no list of pairs, or has a name twice.
 * @example
 * ```ts
 * choice("What kind of email is this?", { receipt: "a payment receipt", other: "none of the above" });
 * choice("Which month is meant?", [["3", "March"], ["1", "January"]]);
 * ```
 */
export function choice<const TOption extends string>(
  instructions: Wording,
  criteria:
    | (Readonly<Record<TOption, Wording | null>> & NonEmpty<Record<TOption, unknown>>)
    | OptionList<TOption>,
): ChoiceQuestion<TOption> {
  const options = Array.isArray(criteria) ? fromList<TOption>(criteria) : criteria;
  return frozenCopy({
    type: "choice",
    instructions,
    criteria: options as ChoiceQuestion<TOption>["criteria"],
  });
}

function fromList<TOption extends string>(
  list: readonly unknown[],
): ChoiceQuestion<TOption>["criteria"] {
  const names = new Set<unknown>();
  for (const [index, pair] of list.entries()) {
    const name: unknown = Array.isArray(pair) && pair.length === 2 ? pair[0] : null;
    if (typeof name !== "string" || names.has(name)) {
      const problem =
        typeof name === "string"
          ? "has a name that is already in it"
          : "is no pair of a name and a description";
      throw new InvalidRequestError(`The options are a list whose item ${index} ${problem}.`);
    }
    names.add(name);
  }
  return recordInOrder(list as OptionList<TOption>);
}

const notOffered = { rule: "choice-option", what: "picks an option that was not offered" } as const;
const beatenChoice = {
  rule: "choice-highest",
  what: "picks an option that another one beats",
} as const;

/** The kind `choice`. */
export const choiceKind = {
  questionSchema: choiceQuestionSchema,
  answerSchema: choiceAnswerSchema,
  limit: { unit: "option", most: 255, option: "maxOptions" },
  hasConfidence: true,
  keys: ({ criteria }) => Object.keys(criteria),
  check(keys, answer, rounding) {
    // Our own string, not the equal one that was parsed: a key that is another string object in each
    // answer makes V8 compile this function over and over (benchmark: triage).
    const pickedOption = keys[keys.indexOf(answer["choice"] as string)];
    if (pickedOption === undefined) return notOffered;
    const highest = checkDistribution(keys, answer["probabilities"], rounding);
    if (typeof highest !== "number") return highest;
    const probability = (answer["probabilities"] as Record<string, number>)[pickedOption] as number;
    if (probability === highest) return null;
    const error = roundingError(rounding.probabilityDecimals);
    return highest > probability + 2 * error + TOLERANCE ? beatenChoice : null;
  },
  values({ criteria }) {
    const keys = Object.keys(criteria);
    return [
      { name: "choice", form: "option", keys, of: (one) => one.choice },
      distributionOver<ChoiceAnswer>(keys, false),
    ];
  },
  truths: ({ criteria }) =>
    Object.entries(criteria).map(([name, description]) => ({
      truth: name,
      name,
      description: wordingText(description),
    })),
} satisfies KindOf<ChoiceQuestion, ChoiceAnswer>;
