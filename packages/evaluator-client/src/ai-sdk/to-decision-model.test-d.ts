import { customProvider, experimental_decide as decide, type Experimental_DecisionModel } from "ai";
import { expectTypeOf } from "vitest";
import type { Evaluator } from "../evaluator.ts";
import { choice, score } from "../questions/kinds.ts";
import { toDecisionModel } from "./to-decision-model.ts";

declare const evaluator: Evaluator;

const model = toDecisionModel(evaluator);
expectTypeOf(model).toExtend<Experimental_DecisionModel>();
expectTypeOf(customProvider).toBeCallableWith({ decisionModels: { judge: model } });

// Questions built here keep their option names in the package's answers.
const { answers } = await decide({
  model,
  state: "text",
  questions: {
    category: choice("kind?", { receipt: "a receipt", other: "none" }),
    importance: score("how?", ["ignore", "read"]),
  },
});
expectTypeOf(answers.category.choice).toEqualTypeOf<"receipt" | "other">();
expectTypeOf(answers.importance.score).toEqualTypeOf<number>();
