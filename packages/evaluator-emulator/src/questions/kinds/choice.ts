import * as z from "zod/mini";
import { toRecord } from "../../json.ts";
import { matchCriteria, opinionFromScores, profileText } from "../../judge/evidence.ts";
import { contentSchema, contentText } from "../content.ts";
import {
  areLevels,
  type DecisionLabel,
  toDistribution,
  instructionsSchema,
  type Kind,
} from "./kind.ts";

/** Most options of a question (field fact). */
const maxOptions = 255;

const questionSchema = z.object({
  type: z.literal("choice"),
  instructions: instructionsSchema,
  criteria: toRecord(z.nullable(contentSchema)).check(
    z.refine((options) => Object.keys(options).length > 0, "expected at least 1 option"),
    z.refine(
      (options) => Object.keys(options).length <= maxOptions,
      `expected at most ${maxOptions} options`,
    ),
  ),
});

type ChoiceInput = z.infer<typeof questionSchema>;

/** A question that picks one of the named options. */
export const choice: Kind<ChoiceInput> = {
  ...toDistribution("choice", z.string()),
  question: () => questionSchema,
  fromPrompt({ instructions, proposedText, lines }) {
    if (proposedText !== null || lines.length === 0 || areLevels(lines)) return null;
    const options = lines.flatMap(({ text }) => text.split(" | ").map(readOption));
    const isNamed = new Set(options.map(({ name }) => name)).size === options.length;
    const toName = (optionText: string) => (isNamed ? readOption(optionText).name : optionText);
    const criteria = options.map(({ name, text, description }) =>
      isNamed ? ([name, description] as const) : ([text, null] as const),
    );
    return {
      question: toQuestion(instructions, criteria),
      labels: lines.map(({ label, text }) => ({
        label,
        stands: text.split(" | ").map(toName),
      })),
    };
  },
  namesOf: ({ criteria }) => Object.keys(criteria),
  judge({ criteria }, stateProfile) {
    const profiles = Object.entries(criteria).map(([optionName, description]) =>
      profileText(`${spaceOut(optionName)}, ${contentText(description)}`, "criterion"),
    );
    return opinionFromScores(matchCriteria(profiles, stateProfile));
  },
  valueOf: pickOption,
  toDecision({ value: pickedValue, probabilities, confidence }, labels) {
    const options = labels.map((decisionLabel) => {
      return {
        value: decisionLabel,
        probability: probabilities[decisionOption(decisionLabel, labels)],
      };
    });
    const choice = labels.find(
      (decisionLabel) => decisionOption(decisionLabel, labels) === pickedValue,
    );
    return { type: "choice", choice, probabilities: options, confidence };
  },
};

/** Returns the option of OpenAI's typed value: `true` and `"true"` are two. */
export function decisionOption(
  decisionLabel: DecisionLabel,
  labels: readonly DecisionLabel[],
): string {
  const isAmbiguous = typeof decisionLabel === "boolean" && labels.includes(String(decisionLabel));
  return isAmbiguous ? `${decisionLabel} (boolean)` : String(decisionLabel);
}

function toQuestion(
  instructions: string,
  options: readonly (readonly [name: string, description: string | null])[],
): ChoiceInput {
  return { type: "choice", instructions, criteria: Object.fromEntries(options) };
}

/** Splits `name: description`. */
function readOption(optionText: string) {
  const [optionName = "", ...rest] = optionText.split(":");
  return { text: optionText, name: optionName, description: rest.join(":").trim() || null };
}

function spaceOut(optionName: string): string {
  return optionName.replaceAll(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})|_/gu, " ");
}

const wayOutPattern = /^(?:other|none|neither|unknown|unclear|unsure)(?:$|[^\p{L}])/iu;

/** Returns the likeliest option; among equals a way out such as `other` (contract section 1.6), else the first. */
function pickOption(options: readonly string[], probabilities: readonly number[]): string {
  const highest = Math.max(...probabilities);
  const likeliest = options.filter((_option, index) => probabilities[index] === highest);
  return likeliest.find((option) => wayOutPattern.test(option)) ?? likeliest[0] ?? "";
}
