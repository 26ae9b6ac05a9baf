import { expectTypeOf, test } from "vitest";
import type { Evaluator } from "../evaluator.ts";
import { boolean, choice } from "../questions/kinds.ts";
import type { Bound } from "./escalate.ts";
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
  if (answers.scam.status === "answered")
    expectTypeOf(answers.scam.answer.probability).toEqualTypeOf<number>();
  if (answers.kind.status === "unsure")
    expectTypeOf(answers.kind.bound).toEqualTypeOf<Bound | null>();
  // @ts-expect-error: an answered question has no bound
  if (answers.kind.status === "answered") void answers.kind.bound;
  // @ts-expect-error: a refused question has no answer
  void answers.scam.answer;
  // @ts-expect-error: no such question
  void evaluateSettled(evaluator, request, { bounds: { scan: { below: 0.8 } } });
});

test("evaluate stays as it is: its answers have no status", async () => {
  const questions = { scam: boolean("Is it?") };
  const { answers } = await evaluator.evaluate({ state: "a", questions });
  expectTypeOf(answers.scam.probability).toEqualTypeOf<number>();
  // @ts-expect-error: it throws a refusal
  void answers.scam.status;
  const { evaluation } = await evaluateSettled(evaluator, { state: "a", questions });
  expectTypeOf(evaluation?.answers.scam.probability).toEqualTypeOf<number | undefined>();
});
