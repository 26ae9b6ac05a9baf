import * as z from "zod/mini";
import { frozenCopy, recordOf } from "../json.ts";
import type { KindOf } from "./kind.ts";
import { checkDistribution, probability } from "./probabilities.ts";

/** A question that orders named options. */
export const rankingQuestionSchema = /* @__PURE__ */ (() =>
  z.strictObject({
    type: z.literal("ranking"),
    instructions: z.string(),
    criteria: recordOf(z.string()),
  }))();
/** See {@link rankingQuestionSchema}. */
export interface RankingQuestion<TOption extends string = string> {
  readonly type: "ranking";
  readonly instructions: string;
  readonly criteria: Readonly<Record<TOption, string>>;
}

/** The answer to a ranking question. */
export const rankingAnswerSchema = /* @__PURE__ */ (() =>
  z.looseObject({
    type: z.literal("ranking"),
    ranking: z.array(z.string()),
    probabilities: recordOf(probability()),
  }))();
/** See {@link rankingAnswerSchema}. */
export interface RankingAnswer<TOption extends string = string> {
  type: "ranking";
  /** All options, best first. */
  ranking: TOption[];
  /** Option name to the probability that it is the best. */
  probabilities: Record<TOption, number>;
}

/** Builds a question that orders named options. */
export function ranking<const TOption extends string>(
  instructions: string,
  criteria: Readonly<Record<TOption, string>>,
): RankingQuestion<TOption> {
  return frozenCopy({ type: "ranking", instructions, criteria });
}

const wrongOptions = {
  rule: "ranking-options",
  what: "does not order each option once",
} as const;

/** The kind `ranking`. */
export const rankingKind = {
  questionSchema: rankingQuestionSchema,
  answerSchema: rankingAnswerSchema,
  limit: { unit: "option", most: 255, option: "maxOptions" },
  hasConfidence: true,
  keys: ({ criteria }) => Object.keys(criteria),
  check(keys, answer, rounding) {
    const ranked = answer["ranking"];
    if (!Array.isArray(ranked) || ranked.length !== keys.length) return wrongOptions;
    for (const key of keys) if (!ranked.includes(key)) return wrongOptions;
    const highest = checkDistribution(keys, answer["probabilities"], rounding);
    return typeof highest === "number" ? null : highest;
  },
  values({ criteria }) {
    const keys = Object.keys(criteria);
    return [
      { name: "ranking", meaning: "the best option", form: "option", keys, of: (one) => one.ranking[0] ?? "" },
      {
        name: "probabilities",
        meaning: "the probability that an option is the best",
        form: "distribution",
        keys,
        isOrdered: false,
        of: (one) => one.probabilities,
      },
    ];
  },
  truths: ({ criteria }) =>
    Object.entries(criteria).map(([name, description]) => ({ truth: name, name, description })),
} satisfies KindOf<RankingQuestion, RankingAnswer>;
