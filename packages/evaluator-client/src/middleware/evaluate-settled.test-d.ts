import { expectTypeOf, test } from "vitest";
import type { Evaluator } from "../evaluator.ts";
import { boolean, choice } from "../questions/kinds.ts";
import { evaluateSettled } from "./evaluate-settled.ts";

declare const evaluator: Evaluator;

test("a settled answer has the type of its question, once its status is known", async () => {
  const kind = choice("Which?", { receipt: "a receipt", other: null });
  const request = { state: "a", questions: { kind, scam: boolean("Is it?") } };
  const { answers } = await evaluateSettled(evaluator, request, {
    bounds: { kind: { below: 0.8 } },
  });
  type Unsure = Extract<typeof answers.kind, { readonly status: "unsure" }>;
  expectTypeOf<Unsure["answer"]["choice"]>().toEqualTypeOf<"receipt" | "other">();
  expectTypeOf(answers.scam.status).toEqualTypeOf<"answered" | "unsure" | "refused">();
  // @ts-expect-error: a refused question has no answer
  void answers.scam.answer;
  // @ts-expect-error: no such question
  void evaluateSettled(evaluator, request, { bounds: { scan: { below: 0.8 } } });
});
