import { expectTypeOf, test } from "vitest";
import * as z from "zod";
import * as mini from "zod/mini";
import type { Evaluator } from "../evaluator.ts";
import { questionsFrom } from "./questions-from.ts";

declare const evaluator: Evaluator;

test("the value of answers has the type of the schema", async () => {
  const schema = z.object({
    scam: z.boolean().describe("?"),
    kind: z.enum(["a", "b"]).describe("?"),
  });
  const { questions, toValue } = questionsFrom(schema);
  const { answers } = await evaluator.evaluate({ state: "a", questions });
  expectTypeOf(answers.scam.probability).toEqualTypeOf<number>();
  expectTypeOf(toValue(answers)).toEqualTypeOf<{ scam: boolean; kind: "a" | "b" }>();
  expectTypeOf(questionsFrom(mini.object({ a: mini.boolean() })).toValue({})).toEqualTypeOf<{
    a: boolean;
  }>();
});

test("every form of a question has its type, in zod and zod/mini", async () => {
  const literals = z.union([z.literal("a"), z.literal("b")]).describe("?");
  const level = z.enum(["low", "high"]).meta({ description: "?", ordered: true });
  const { questions, toValue } = questionsFrom(z.object({ literals, level }));
  const { answers } = await evaluator.evaluate({ state: "a", questions });
  expectTypeOf(toValue(answers)).toEqualTypeOf<{ literals: "a" | "b"; level: "low" | "high" }>();
  if (answers.literals.type === "choice")
    expectTypeOf(answers.literals.choice).toEqualTypeOf<"a" | "b">();
  else expectTypeOf(answers.literals.score).toEqualTypeOf<number>();
  const small = questionsFrom(mini.object({ kind: mini.enum(["a", "b"]) }));
  expectTypeOf(small.toValue({})).toEqualTypeOf<{ kind: "a" | "b" }>();
});

test("any other field does not compile, at the line of the schema", () => {
  // @ts-expect-error: a text is no question
  questionsFrom(z.object({ name: z.string() }));
  // @ts-expect-error: a number has no levels
  questionsFrom(z.object({ ok: z.boolean(), age: z.number() }));
  // @ts-expect-error: every question has an answer
  questionsFrom(z.object({ ok: z.boolean().optional() }));
  // @ts-expect-error: a question is in no other object
  questionsFrom(z.object({ inner: z.object({ ok: z.boolean() }) }));
  // @ts-expect-error: options are texts
  questionsFrom(z.object({ one: z.union([z.literal(1), z.literal(2)]) }));
  // @ts-expect-error: a list has any number of answers
  questionsFrom(z.object({ all: z.array(z.boolean()) }));
  // @ts-expect-error: it is no object
  questionsFrom(z.boolean());
  expectTypeOf(questionsFrom(z.object({})).questions).toEqualTypeOf<{}>();
});
