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
  // @ts-expect-error: a text is no question
  questionsFrom(z.object({ name: z.string() }));
});
