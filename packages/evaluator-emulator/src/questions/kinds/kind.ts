import * as z from "zod/mini";
import { mapped, toRecord } from "../../json.ts";
import type { Opinion, TextProfile } from "../../judge/evidence.ts";
import { type Content, contentSchema } from "../content.ts";

/** A form that has its own names for kinds: contract section 2.6, OpenAI's and Google's. */
export type Wire = "gateway" | "vendor" | "decisions" | "gemini";

/** An option of a choice, whose values are typed, or the label of a level, in OpenAI's form. */
export type DecisionLabel = string | boolean;

/** An answer before a wire gives it its form; the same fields for each kind. */
export interface PrintedAnswer {
  /** The option or the score; null for a yes/no question. */
  readonly value: string | number | null;
  /** By option, level index, or `yes`; the fractions of a box by its edges. */
  readonly probabilities: Readonly<Record<string, number>>;
  readonly confidence: number | null;
}

/** A chat prompt that asks one question and lists labels for its answers. */
interface LabelledPrompt {
  readonly instructions: string;
  /** The answer that a yes/no prompt proposes, or null. */
  readonly proposedText: string | null;
  readonly lines: readonly { readonly label: string; readonly text: string }[];
}

/** The question of a chat prompt, and the names that each label stands for. */
interface PromptQuestion<TQuestion> {
  readonly question: TQuestion;
  readonly labels: readonly { readonly label: string; readonly stands: readonly string[] }[];
}

/** The emulator's own reading of one kind of question. */
export interface Kind<TQuestion> {
  /** The value of `type` on each wire; null if the wire lacks the kind. */
  readonly names: Readonly<Record<Wire, string | null>>;
  /** Whether its probabilities sum to 1. */
  readonly isDistribution: boolean;
  /** The names of its numbers, if each answer has the same several. @default none */
  readonly numbers?: readonly string[];
  /** Whether it asks about an image. @default false */
  readonly needsImage?: boolean;
  /** Parses a question of a wire; unknown fields are ignored (field fact). */
  question(wireForm: Wire): z.ZodMiniType<TQuestion>;
  /** Parses a recorded answer of either wire. */
  readonly answer: z.ZodMiniType<PrintedAnswer>;
  /** Reads the question of a chat prompt, or returns null if it asks another kind. */
  fromPrompt(prompt: LabelledPrompt): PromptQuestion<TQuestion> | null;
  /** The names of the probabilities, in the order of an opinion. */
  namesOf(question: TQuestion): readonly string[];
  /** Judges a state by its words. */
  judge(question: TQuestion, stateProfile: TextProfile): Opinion;
  /** Returns the confidence of an answer, 0..1; null for a kind without one. */
  confidenceOf(opinion: Opinion): number | null;
  /** Returns an answer's value from unrounded probabilities. */
  valueOf(names: readonly string[], probabilities: readonly number[]): PrintedAnswer["value"];
  toGateway(printedAnswer: PrintedAnswer): object;
  /** @param question - Undefined if a recording answers more than was asked. */
  toVendor(printedAnswer: PrintedAnswer, question: TQuestion | undefined): object;
  /** @param labels - The options, or the labels of the levels, as OpenAI's caller wrote them. */
  toDecision(printedAnswer: PrintedAnswer, labels: readonly DecisionLabel[]): object;
}

/** Parses instructions; missing ones are null. */
export const instructionsSchema = mapped(
  z.nullish(contentSchema),
  (content): Content | null => content ?? null,
);

/** Returns what choice and score share: on each wire their value has the name of the kind. */
export function toDistribution(
  type: "choice" | "score",
  valueSchema: z.ZodMiniType<string | number>,
) {
  const valueField = { [type]: valueSchema } as Record<typeof type, typeof valueSchema>;
  const fields = { probabilities: toRecord(z.number()), confidence: z.nullish(z.number()) };
  return {
    names: { gateway: type, vendor: type, decisions: type, gemini: type },
    isDistribution: true,
    confidenceOf: ({ probabilities }: Opinion) => spreadConfidence(probabilities),
    answer: mapped(
      z.object({ type: z.literal(type), ...valueField, ...fields }),
      ({ [type]: value, probabilities, confidence = null }): PrintedAnswer => {
        return { value, probabilities, confidence };
      },
    ),
    toGateway: ({ value, probabilities }: PrintedAnswer) => ({
      type,
      [type]: value,
      probabilities,
    }),
    toVendor: ({ value, probabilities, confidence }: PrintedAnswer) => {
      const confidenceField = confidence === null ? {} : { confidence };
      return { type, [type]: value, probabilities, ...confidenceField };
    },
  };
}

/** Returns whether labels are the indexes of levels. */
export function areLevels(lines: LabelledPrompt["lines"]): boolean {
  return /^\d$/.test(lines[0]?.label ?? "") && lines.length <= 10;
}

/**
 * Returns how far a distribution is from flat, 0..1: one minus its entropy over the highest
 * possible. The emulator's own measure; the vendor's is not published (contract section 2.5).
 */
function spreadConfidence(probabilities: readonly number[]): number {
  if (probabilities.length === 1) return 1;
  const entropy = probabilities
    .filter((probability) => probability > 0)
    .reduce((total, probability) => total - probability * Math.log(probability), 0);
  return Math.min(1, Math.max(0, 1 - entropy / Math.log(probabilities.length)));
}
