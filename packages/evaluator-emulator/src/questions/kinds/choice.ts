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
    const toName = (text: string) => (isNamed ? readOption(text).name : text);
    const criteria = options.map(({ name, text, description }) =>
      isNamed ? ([name, description] as const) : ([text, null] as const),
    );
    return {
      question: toQuestion(instructions, criteria),
      labels: lines.map(({ label, text }) => ({ label, stands: text.split(" | ").map(toName) })),
    };
  },
  namesOf: ({ criteria }) => Object.keys(criteria),
  judge({ criteria }, state) {
    const profiles = Object.entries(criteria).map(([name, description]) =>
      profileText(`${spaceOut(name)}, ${contentText(description)}`, "criterion"),
    );
    return opinionFromScores(matchCriteria(profiles, state));
  },
  valueOf: pickOption,
  toDecision({ value: pickedValue, probabilities, confidence }, labels) {
    const options = labels.map((value) => {
      return { value, probability: probabilities[decisionOption(value, labels)] };
    });
    const choice = labels.find((value) => decisionOption(value, labels) === pickedValue);
    return { type: "choice", choice, probabilities: options, confidence };
  },
};

/** Returns the option of OpenAI's typed value: `true` and `"true"` are two. */
export function decisionOption(value: DecisionLabel, labels: readonly DecisionLabel[]): string {
  const isAmbiguous = typeof value === "boolean" && labels.includes(String(value));
  return isAmbiguous ? `${value} (boolean)` : String(value);
}

function toQuestion(
  instructions: string,
  options: readonly (readonly [name: string, description: string | null])[],
): ChoiceInput {
  return { type: "choice", instructions, criteria: Object.fromEntries(options) };
}

/** Splits `name: description`. */
function readOption(text: string) {
  const [name = "", ...rest] = text.split(":");
  return { text, name, description: rest.join(":").trim() || null };
}

function spaceOut(name: string): string {
  return name.replaceAll(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})|_/gu, " ");
}

const wayOutPattern = /^(?:other|none|neither|unknown|unclear|unsure)(?:$|[^\p{L}])/iu;

/** Returns the likeliest option; among equals a way out such as `other` (contract section 1.6), else the first. */
function pickOption(options: readonly string[], probabilities: readonly number[]): string {
  const highest = Math.max(...probabilities);
  const likeliest = options.filter((_option, index) => probabilities[index] === highest);
  return likeliest.find((option) => wayOutPattern.test(option)) ?? likeliest[0] ?? "";
}
