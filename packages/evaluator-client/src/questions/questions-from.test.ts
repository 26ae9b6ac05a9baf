import { expect, test } from "vitest";
import * as classic from "zod";
import * as z from "zod/mini";
import { createEvaluator } from "../create-evaluator.ts";
import { ConfigurationError, InvalidResponseError } from "../errors.ts";
import { answeringTransport } from "../testing/answering-transport.ts";
import { boolean, choice, score } from "./kinds.ts";
import { questionsFrom } from "./questions-from.ts";

const mail = classic.object({
  scam: classic.boolean().describe("Is it a scam?"),
  kind: classic
    .union([classic.literal("receipt").describe("a payment receipt"), classic.literal("other")])
    .describe("Which kind?"),
  urgency: classic
    .enum(["low", "high"])
    .meta({ description: "How urgent?", ordered: true, criteria: { high: "reply today" } }),
});

test("fields become questions, in the words of their descriptions", () => {
  expect(questionsFrom(mail).questions).toEqual({
    scam: boolean("Is it a scam?"),
    kind: choice("Which kind?", { receipt: "a payment receipt", other: null }),
    urgency: score("How urgent?", ["low", "high: reply today"]),
  });
});

test("zod/mini has the same questions", () => {
  const schema = z.object({
    scam: z.boolean().check(z.describe("Is it a scam?")),
    kind: z
      .enum(["receipt", "other"])
      .check(z.meta({ description: "Which kind?", criteria: { other: "the rest" } })),
  });
  expect(questionsFrom(schema).questions).toEqual({
    scam: boolean("Is it a scam?"),
    kind: choice("Which kind?", { receipt: null, other: "the rest" }),
  });
});

test("options of a union keep their order, also those that look like integers", () => {
  const month = classic
    .union([classic.literal("3"), classic.literal("1")])
    .describe("Which month?");
  const { questions } = questionsFrom(classic.object({ month }));
  expect(questions.month).toEqual(
    choice("Which month?", [
      ["3", null],
      ["1", null],
    ]),
  );
  expect(Object.keys(questions.month.criteria)).toEqual(["3", "1"]);
});

const answers = {
  scam: 0.5,
  kind: { type: "choice", choice: "other", probabilities: { receipt: 0.2, other: 0.8 } },
  urgency: { type: "score", score: 0.6, probabilities: { 0: 0.4, 1: 0.6 } },
};

test("checked answers become the value of the schema", async () => {
  const { transport } = answeringTransport({ answers });
  const { questions, toValue } = questionsFrom(mail);
  const evaluation = await createEvaluator({ transport }).evaluate({ state: "a", questions });
  expect(toValue(evaluation.answers)).toEqual({ scam: true, kind: "other", urgency: "high" });
});

test("a check of the schema that rejects the value is an error with its path", () => {
  const schema = classic.object({
    scam: classic
      .boolean()
      .describe("Is it a scam?")
      .refine((value) => !value, "no scams"),
  });
  const { toValue } = questionsFrom(schema);
  expect(toValue({ scam: { type: "boolean", probability: 0.1 } })).toEqual({ scam: false });
  const scam = { type: "boolean", probability: 0.9 };
  expect(() => toValue({ scam })).toThrow('"scam" breaks the schema: no scams');
  expect(() => toValue({})).toThrow(InvalidResponseError);
});

test.each([
  ["a text", classic.object({ name: classic.string().describe("Who?") }), '"name"'],
  ["an optional field", classic.object({ a: classic.boolean().optional().describe("A?") }), '"a"'],
  ["a nested object", classic.object({ a: classic.object({ b: classic.boolean() }) }), '"a"'],
  ["an enum of numbers", classic.object({ a: classic.enum({ one: 1 }).describe("A?") }), '"a"'],
  [
    "a union with more than literals",
    classic.object({ a: classic.union([classic.literal("b"), classic.boolean()]).describe("A?") }),
    '"a"',
  ],
  ["a field without a description", classic.object({ a: classic.boolean() }), "no description"],
  ["no object", classic.array(classic.boolean()), "no z.object"],
  ["nothing", null, "no z.object"],
])("%s is refused, with its field", (_, schema, message) => {
  expect(() => questionsFrom(schema as never)).toThrow(ConfigurationError);
  expect(() => questionsFrom(schema as never)).toThrow(message);
});
