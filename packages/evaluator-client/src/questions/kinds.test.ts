import { expect, test } from "vitest";
import { emailRequest, gatewayBody } from "../testing/email-evaluation.ts";
import { boolean, box, questionKinds, truthsOf, valuesOf } from "./kinds.ts";

const { category, importance, scam } = emailRequest.questions;

test("an answer to a choice is an option and a distribution without order", () => {
  const keys = ["receipt", "other"];
  expect(valuesOf(category, gatewayBody.answers.category as never)).toEqual([
    { name: "choice", form: "option", keys, value: "receipt" },
    {
      name: "probabilities",

      form: "distribution",
      keys,
      isOrdered: false,
      value: { receipt: 0.91, other: 0.09 },
    },
  ]);
});

test("an answer to a score is a mean and an ordered distribution", () => {
  const keys = ["0", "1"];
  expect(valuesOf(importance, gatewayBody.answers.importance as never)).toEqual([
    { name: "score", form: "number", most: 1, value: 0.35 },
    {
      name: "probabilities",

      form: "distribution",
      keys,
      isOrdered: true,
      value: { "0": 0.65, "1": 0.35 },
    },
  ]);
});

test("an answer to a box is its four edges, and no person labels it", () => {
  const edges = { top: 0.25, left: 0.1, bottom: 0.75, right: 0.9 };
  const question = box("the coffee mug");
  const values = valuesOf(question, { type: "box", box: edges, confidence: null });
  const named = Object.entries(edges).map(([name, value]) => ({ name, value }));
  expect(values).toMatchObject(named);
  expect(values.every((value) => value.form === "number" && value.most === 1)).toBe(true);
  expect(truthsOf(question)).toBeNull();
});

test("an answer to a boolean is one probability", () => {
  expect(valuesOf(scam, gatewayBody.answers.scam as never)).toEqual([
    {
      name: "probability",

      form: "probability",
      value: 0.04,
    },
  ]);
});

test("a person gives an option, a level, or yes or no", () => {
  expect(truthsOf(category)).toEqual([
    { truth: "receipt", name: "receipt", description: "a payment receipt" },
    { truth: "other", name: "other", description: "none of the above" },
  ]);
  expect(truthsOf(importance)).toEqual([
    { truth: 0, name: "0", description: "ignore: nothing to do" },
    { truth: 1, name: "1", description: "high: reply within days" },
  ]);
  expect(truthsOf(boolean("scam?", { true: "asks for money" }))).toEqual([
    { truth: true, name: "yes", description: "asks for money" },
    { truth: false, name: "no", description: "" },
  ]);
});

test.each(Object.entries(emailRequest.questions))(
  "%s: the keys of its distributions are those that its answers are checked by",
  (_, question) => {
    const kind = questionKinds[question.type];
    const keys = kind
      .values(question)
      .flatMap((field) => (field.form === "distribution" ? field.keys : []));
    expect(keys).toEqual(kind.keys(question));
  },
);
