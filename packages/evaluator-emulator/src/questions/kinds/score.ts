import * as z from "zod/mini";
import { matchCriteria, opinionFromScores, profileText } from "../../judge/evidence.ts";
import { contentSchema, contentText } from "../content.ts";
import { areLevels, toDistribution, instructionsSchema, type Kind } from "./kind.ts";

/** Most levels of a question (field fact); Google's own number is larger. */
const maxLevels = 10;
const maxGeminiLevels = 255;

const questionSchema = (most: number) =>
  z.object({
    type: z.literal("score"),
    instructions: instructionsSchema,
    criteria: z
      .array(contentSchema)
      .check(
        z.minLength(1, "expected at least 1 level"),
        z.maxLength(most, `expected at most ${most} levels`),
      ),
  });

type ScoreInput = z.infer<ReturnType<typeof questionSchema>>;

const sharedParts = toDistribution("score", z.number());

/** A question that places the state on ordered levels. */
export const score: Kind<ScoreInput> = {
  ...sharedParts,
  question: (wireForm) => questionSchema(wireForm === "gemini" ? maxGeminiLevels : maxLevels),
  fromPrompt({ instructions, proposedText, lines }) {
    if (proposedText !== null || !areLevels(lines)) return null;
    return {
      question: { type: "score", instructions, criteria: lines.map(({ text }) => text) },
      labels: lines.map(({ label }, level) => ({
        label,
        stands: [String(level)],
      })),
    };
  },
  namesOf: ({ criteria }) => Object.keys(criteria),
  judge({ criteria }, stateProfile) {
    const profiles = criteria.map((level) => profileText(contentText(level), "criterion"));
    const opinion = opinionFromScores(matchCriteria(profiles, stateProfile));
    if (!opinion.isInformed) return opinion;
    return { ...opinion, probabilities: shareWithNeighbours(opinion.probabilities) };
  },
  valueOf: (_levels, probabilities) =>
    probabilities.reduce((total, share, index) => total + share * index, 0),
  toVendor(printedAnswer, question) {
    const legend = question && { legend: Object.fromEntries(question.criteria.entries()) };
    return { ...sharedParts.toVendor(printedAnswer), ...legend };
  },
  toDecision({ value: mean, probabilities, confidence }, labels) {
    const levels = labels.map((label, value) => {
      return { value, label, probability: probabilities[value] };
    });
    return { type: "score", score: mean, probabilities: levels, confidence };
  },
};

// Chosen: enough for a mean between two levels. judge.test.ts holds at half and at twice.
const neighbourShare = 0.15;

function shareWithNeighbours(probabilities: readonly number[]): number[] {
  const last = probabilities.length - 1;
  const sharedValues = probabilities.map(() => 0);
  for (const [index, probability] of probabilities.entries()) {
    // An end level keeps the share of its missing neighbour, so the sum stays 1.
    for (const neighbour of [Math.max(0, index - 1), Math.min(last, index + 1)]) {
      sharedValues[neighbour] = (sharedValues[neighbour] ?? 0) + neighbourShare * probability;
    }
    sharedValues[index] = (sharedValues[index] ?? 0) + (1 - 2 * neighbourShare) * probability;
  }
  return sharedValues;
}
