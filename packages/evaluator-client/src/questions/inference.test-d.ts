import { expectTypeOf } from "vitest";
import type { Evaluation } from "../evaluation.ts";
import type { EvaluationRequest } from "./request.ts";
import type { Evaluator } from "../evaluator.ts";
import { boolean, choice, score } from "./kinds.ts";

declare const evaluator: Evaluator;

const evaluation = await evaluator.evaluate({
  state: "text",
  questions: {
    category: choice("kind?", { receipt: "a receipt", other: "none" }),
    importance: score("how?", ["ignore", "read", "answer"]),
    scam: boolean("scam?"),
  },
});

// Option names and level indexes come from the questions as written.
expectTypeOf(evaluation.answers.category.choice).toEqualTypeOf<"receipt" | "other">();
expectTypeOf(evaluation.answers.category.probabilities).toEqualTypeOf<
  Record<"receipt" | "other", number>
>();
expectTypeOf(evaluation.answers.importance.probabilities).toEqualTypeOf<
  Record<"0" | "1" | "2", number>
>();
expectTypeOf(evaluation.answers.scam.probability).toEqualTypeOf<number>();

// Confidence exists for choice and score questions only.
expectTypeOf(evaluation.confidence).toEqualTypeOf<{
  category: number | null;
  importance: number | null;
}>();
// @ts-expect-error A boolean question has no confidence.
void evaluation.confidence.scam;
// @ts-expect-error Only the ids that were asked exist.
void evaluation.answers.unknown;

// Questions written as plain objects infer as well as built ones.
const plain = await evaluator.evaluate({
  state: {},
  questions: {
    tier: { type: "choice", instructions: "tier?", criteria: { nano: "n", fast: "f" } },
  },
});
expectTypeOf(plain.answers.tier.choice).toEqualTypeOf<"nano" | "fast">();

// A level list or questions made at run time fall back to strings.
declare const levels: string[];
const atRunTime = await evaluator.evaluate({
  state: "text",
  questions: { importance: score("how?", levels) },
});
expectTypeOf(atRunTime.answers.importance.probabilities).toEqualTypeOf<Record<string, number>>();

declare const request: EvaluationRequest;
expectTypeOf(evaluator.evaluate(request)).toEqualTypeOf<Promise<Evaluation>>();

// @ts-expect-error A state is text or a JSON object.
void evaluator.evaluate({ state: 1, questions: { scam: boolean("scam?") } });
