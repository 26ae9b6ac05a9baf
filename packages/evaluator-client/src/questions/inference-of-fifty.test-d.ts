import { expectTypeOf } from "vitest";
import type { Evaluator } from "../evaluator.ts";
import { boolean, choice, score } from "./kinds.ts";

declare const evaluator: Evaluator;

// Each of fifty questions keeps its own options and levels.
const { answers, confidence } = await evaluator.evaluate({
  state: "text",
  questions: {
    q0: choice("Which?", { a0: "first", b0: "second" }),
    q1: score("How much?", ["none", "some", "all"]),
    q2: boolean("Is it?"),
    q3: choice("Which?", { a3: "first", b3: "second" }),
    q4: score("How much?", ["none", "some", "all"]),
    q5: boolean("Is it?"),
    q6: choice("Which?", { a6: "first", b6: "second" }),
    q7: score("How much?", ["none", "some", "all"]),
    q8: boolean("Is it?"),
    q9: choice("Which?", { a9: "first", b9: "second" }),
    q10: score("How much?", ["none", "some", "all"]),
    q11: boolean("Is it?"),
    q12: choice("Which?", { a12: "first", b12: "second" }),
    q13: score("How much?", ["none", "some", "all"]),
    q14: boolean("Is it?"),
    q15: choice("Which?", { a15: "first", b15: "second" }),
    q16: score("How much?", ["none", "some", "all"]),
    q17: boolean("Is it?"),
    q18: choice("Which?", { a18: "first", b18: "second" }),
    q19: score("How much?", ["none", "some", "all"]),
    q20: boolean("Is it?"),
    q21: choice("Which?", { a21: "first", b21: "second" }),
    q22: score("How much?", ["none", "some", "all"]),
    q23: boolean("Is it?"),
    q24: choice("Which?", { a24: "first", b24: "second" }),
    q25: score("How much?", ["none", "some", "all"]),
    q26: boolean("Is it?"),
    q27: choice("Which?", { a27: "first", b27: "second" }),
    q28: score("How much?", ["none", "some", "all"]),
    q29: boolean("Is it?"),
    q30: choice("Which?", { a30: "first", b30: "second" }),
    q31: score("How much?", ["none", "some", "all"]),
    q32: boolean("Is it?"),
    q33: choice("Which?", { a33: "first", b33: "second" }),
    q34: score("How much?", ["none", "some", "all"]),
    q35: boolean("Is it?"),
    q36: choice("Which?", { a36: "first", b36: "second" }),
    q37: score("How much?", ["none", "some", "all"]),
    q38: boolean("Is it?"),
    q39: choice("Which?", { a39: "first", b39: "second" }),
    q40: score("How much?", ["none", "some", "all"]),
    q41: boolean("Is it?"),
    q42: choice("Which?", { a42: "first", b42: "second" }),
    q43: score("How much?", ["none", "some", "all"]),
    q44: boolean("Is it?"),
    q45: choice("Which?", { a45: "first", b45: "second" }),
    q46: score("How much?", ["none", "some", "all"]),
    q47: boolean("Is it?"),
    q48: choice("Which?", { a48: "first", b48: "second" }),
    q49: score("How much?", ["none", "some", "all"]),
  },
});

expectTypeOf(answers.q0.choice).toEqualTypeOf<"a0" | "b0">();
expectTypeOf(answers.q48.probabilities).toEqualTypeOf<Record<"a48" | "b48", number>>();
expectTypeOf(answers.q49.probabilities).toEqualTypeOf<Record<"0" | "1" | "2", number>>();
expectTypeOf(answers.q47.probability).toEqualTypeOf<number>();
expectTypeOf(confidence.q49).toEqualTypeOf<number | null>();
// @ts-expect-error A boolean question has no confidence.
void confidence.q47;
// @ts-expect-error There is no fifty-first question.
void answers.q50;
