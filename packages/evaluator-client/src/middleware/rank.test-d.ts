import { expectTypeOf, test } from "vitest";
import type { Evaluator } from "../evaluator.ts";
import { boolean, choice, score } from "../questions/kinds.ts";
import { rank } from "./rank.ts";

declare const evaluator: Evaluator;

test("a ranking keeps the type of its candidates, and takes a score or a yes alone", async () => {
  const candidates = [{ title: "Refunds", at: 7 }] as const;
  const question = score("How well does it answer?", ["badly", "well"]);
  const [best] = await rank(evaluator, { state: "Why?", candidates, question });
  expectTypeOf(best?.candidate.title).toEqualTypeOf<"Refunds" | undefined>();
  expectTypeOf(best?.value).toEqualTypeOf<number | null | undefined>();
  expectTypeOf(best?.rank).toEqualTypeOf<number | null | undefined>();
  expectTypeOf(best?.error).toEqualTypeOf<Error | null | undefined>();
  const yes = boolean("Does it answer?");
  void rank(evaluator, { state: { any: 1 }, candidates: ["a"], question: yes, concurrency: 2 });
  // @ts-expect-error: an option has no rank
  void rank(evaluator, { state: "", candidates, question: choice("Which?", { a: null, b: null }) });
  // @ts-expect-error: the order is that of the ranking
  void rank(evaluator, { state: "", candidates, question, order: "completion" });
});
