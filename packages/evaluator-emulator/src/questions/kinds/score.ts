import * as z from "zod/mini";
import { mapped } from "../../json.ts";
import { matchCriteria, opinionFromScores, profileText } from "../../judge/evidence.ts";
import { contentSchema, contentText } from "../content.ts";
import {
  areLevels,
  decisionFields,
  distributionOf,
  geminiTextSchema,
  instructionsSchema,
  type Kind,
  toGeminiAnswer,
} from "./kind.ts";
import { geminiPromptSchema } from "../parts.ts";

/** Most levels of a question (field fact). */
const maxLevels = 10;

const questionSchema = z.object({
  type: z.literal("score"),
  instructions: instructionsSchema,
  criteria: z
    .array(contentSchema)
    .check(
      z.minLength(1, "expected at least 1 level"),
      z.maxLength(maxLevels, `expected at most ${maxLevels} levels`),
    ),
});

type ScoreInput = z.infer<typeof questionSchema>;

const shared = distributionOf("score", z.number());

/** A question that places the state on ordered levels. */
export const score: Kind<ScoreInput> = {
  ...shared,
  question: () => questionSchema,
  decisions: {
    question: mapped(
      z.object({
        ...decisionFields("score"),
        levels: z
          .array(z.object({ label: z.string(), description: z.nullish(z.string()) }))
          .check(z.minLength(1), z.maxLength(maxLevels)),
      }),
      ({ type, name = null, instructions, levels }) => {
        const criteria = levels.map(({ label, description }) =>
          description ? `${label}: ${description}` : label,
        );
        const labels = levels.map(({ label }) => label);
        return { name, question: { type, instructions, criteria }, labels };
      },
    ),
    toAnswer({ value: mean, probabilities, confidence }, { labels }) {
      const levels = labels.map((label, value) => {
        return { value, label, probability: probabilities[value] };
      });
      return { type: "score", score: mean, probabilities: levels, confidence };
    },
  },
  gemini: {
    question: z.object({
      type: z.literal("score"),
      instructions: geminiPromptSchema,
      criteria: z.array(geminiTextSchema),
    }),
    toAnswer: ({ value, probabilities }, { criteria }) =>
      toGeminiAnswer(
        { type: "score", score: value, probabilities, legend: legendOf(criteria) },
        Object.values(probabilities),
      ),
  },
  fromPrompt({ instructions, proposed, lines }) {
    if (proposed !== null || !areLevels(lines)) return null;
    return {
      question: { type: "score", instructions, criteria: lines.map(({ text }) => text) },
      labels: lines.map(({ label }, level) => ({ label, stands: [String(level)] })),
    };
  },
  namesOf: ({ criteria }) => Object.keys(criteria),
  judge({ criteria }, state) {
    const profiles = criteria.map((level) => profileText(contentText(level), "criterion"));
    const opinion = opinionFromScores(matchCriteria(profiles, state));
    if (!opinion.isInformed) return opinion;
    return { ...opinion, probabilities: shareWithNeighbours(opinion.probabilities) };
  },
  valueOf: (_levels, probabilities) =>
    probabilities.reduce((total, share, index) => total + share * index, 0),
  toVendor: (answer, question) => ({
    ...shared.toVendor(answer),
    ...(question && { legend: legendOf(question.criteria) }),
  }),
};

/** Returns the levels by their indexes. */
function legendOf(levels: ScoreInput["criteria"]) {
  return Object.fromEntries(levels.entries());
}

// Chosen: enough for a mean between two levels. judge.test.ts holds at half and at twice.
const neighbourShare = 0.15;

function shareWithNeighbours(probabilities: readonly number[]): number[] {
  const last = probabilities.length - 1;
  const shared = probabilities.map(() => 0);
  for (const [index, probability] of probabilities.entries()) {
    // An end level keeps the share of its missing neighbour, so the sum stays 1.
    for (const neighbour of [Math.max(0, index - 1), Math.min(last, index + 1)]) {
      shared[neighbour] = (shared[neighbour] ?? 0) + neighbourShare * probability;
    }
    shared[index] = (shared[index] ?? 0) + (1 - 2 * neighbourShare) * probability;
  }
  return shared;
}
