import { expect, test } from "vitest";
import { sampleEvaluation, sampleSetup } from "../testing/samples.ts";
import {
  callKey,
  toDigest,
  fromKeptText,
  isAsWritten,
  isKeyOf,
  repeatedKey,
  setupHash,
  toKeptText,
} from "./kept-answer.ts";

const { questions, service } = sampleSetup;
const setup = setupHash(sampleSetup);
const [key, evaluation] = [callKey(setup, '"a mail"'), toKeptText(sampleEvaluation())];

test("the hashes stay what they were, so that journals of earlier days keep their answers", () => {
  expect(setup).toBe("EHJSZL0yFmhnMzy0j2HIVddeeUHsP0e20oCd5Puwkjo");
  expect(key).toBe("9rXOcgL_-8YD9XjJKLScAUwV-eW0VyPQnZhqNIpPJNQ");
  expect(toDigest({ key, state: '"a mail"', evaluation: "{}" })).toBe(
    "GRkNQzZmMLLTaDfXwtyS6FpJPcU3ku2y9yq_vxHkiu4",
  );
});

test.each([
  ["question", { service, questions: { scam: { type: "boolean", instructions: "Is it?" } } }],
  ["model", { questions, service: { ...service, modelId: "n" } }],
  ["wire", { questions, service: { ...service, address: "v" } }],
] as const)("another %s is another answer", (_, other) => {
  expect(isKeyOf(key, setup, '"a mail"')).toBe(true);
  expect(isKeyOf(key, setupHash(other), '"a mail"')).toBe(false);
});

test("records with the same state have a key each, and all are keys of the state", () => {
  const keys = [0, 1, 2].map((repeat) => repeatedKey(key, repeat));
  expect(keys).toEqual([key, `${key}#1`, `${key}#2`]);
  expect(keys.map((each) => isKeyOf(each, setup, '"a mail"'))).toEqual([true, true, true]);
  expect(keys.map((each) => isKeyOf(each, setup, '"another"'))).toEqual([false, false, false]);
});

test.each(["key", "state", "evaluation"])("a row with another %s is not as written", (column) => {
  const row = { key, state: '"a mail"', evaluation };
  const digest = toDigest(row);
  expect(isAsWritten({ ...row, digest })).toBe(true);
  expect(isAsWritten({ ...row, digest, [column]: "other" })).toBe(false);
});

test("a kept answer comes back whole, but for the body as it came", () => {
  const { raw, ...kept } = sampleEvaluation();
  expect(raw).toBeDefined();
  const back = fromKeptText(evaluation, questions);
  expect(back).toMatchObject(kept);
  expect(back).not.toHaveProperty("raw");
});

test("what is kept in another order, or has such names inside, comes back the same", () => {
  const { raw, ...kept } = sampleEvaluation();
  expect(raw).toBeDefined();
  const asked = {
    is: { type: "choice", instructions: "?", criteria: { a: "", usage: "" } },
  } as const;
  const is = { type: "choice", choice: "a", probabilities: { a: 1, usage: 0 } };
  const metadata = { a: 1, usage: { inputTokens: 7, confidence: {} } };
  for (const text of [
    JSON.stringify(kept),
    JSON.stringify({ metadata, ...kept }),
    evaluation.replace("{", '{"a":{"b":1,"usage":{"inputTokens":1}},'),
  ]) {
    const { answers, usage } = kept;
    expect(fromKeptText(text, questions)).toMatchObject({ answers, usage });
  }
  const other = toKeptText({ ...sampleEvaluation(), answers: { is } } as never);
  expect(fromKeptText(other, asked)).toMatchObject({ answers: { is }, usage: kept.usage });
});

test("what is kept is no answer to other questions", () => {
  const other = { urgent: { type: "boolean", instructions: "Is it urgent?" } } as const;
  expect(fromKeptText(evaluation, other)).toBeNull();
});

test("kept text of no evaluation is an error, and never a mail without an answer", () => {
  expect(() => fromKeptText("null", questions)).toThrow(TypeError);
  expect(() => fromKeptText("{", questions)).toThrow(SyntaxError);
});
