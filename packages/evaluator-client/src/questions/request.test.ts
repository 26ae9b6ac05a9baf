import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { EvaluatorError, InvalidRequestError } from "../errors.ts";
import { boolean, choice, score } from "./kinds.ts";
import { type EvaluationRequest, requestParser } from "./request.ts";
import { estimateTokens, isSurelyOver } from "./tokens.ts";
import { image } from "./state.ts";

const questions = { scam: boolean("scam?") };

function failureOf(request: unknown): unknown {
  try {
    requestParser()(request as EvaluationRequest);
    return undefined;
  } catch (error) {
    return error;
  }
}

const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });

test.each<[string, unknown]>([
  ["text", "some text"],
  ["empty text", ""],
  ["an object", { subject: "Hi", tags: ["a", 1, null, { deep: true }] }],
  ["an undefined field, which JSON drops", { subject: undefined }],
  ["nested to the limit", nested(500)],
  ["the same object twice", { a: questions, b: questions }],
  ["a key named __proto__", JSON.parse('{"__proto__":{"a":1}}')],
  ["an object of another realm", runInNewContext("({ a: { b: [{ c: null }] } })")],
  ["one that holds an object of another realm", { a: [runInNewContext("({ b: 1 })")] }],
  ["an object without a prototype", Object.assign(Object.create(null), { a: 1 })],
])("takes a state that is %s", (_, state) => {
  expect(failureOf({ state, questions })).toBeUndefined();
});

const cyclic: Record<string, unknown> = {};
cyclic["self"] = cyclic;

test.each<[string, unknown, string]>([
  ["missing", undefined, "The state is neither"],
  ["null", null, "The state is neither"],
  ["a number", 1, "The state is neither"],
  ["a list", ["a"], "The state is a list of parts, which this transport does not take"],
  ["a date", new Date(0), "The state is neither"],
  ["a cycle", cyclic, 'The state at "state.self" contains itself'],
  ["nested deep", nested(5000), "is nested deeper than 500 levels"],
  ["NaN inside", { a: { b: Number.NaN } }, 'The state at "state.a.b" is a number'],
  ["a bigint inside", { a: 1n }, 'The state at "state.a" is not a JSON value'],
  ["undefined in a list", { a: [undefined] }, 'The state at "state.a.0" is not a JSON value'],
  [
    "a hole in a list",
    { a: Object.assign([], { length: 1 }) },
    'The state at "state.a.0" is not a JSON value',
  ],
  ["an instance of a class", new EvaluatorError("text"), "The state is neither"],
  ["one of another realm", runInNewContext("new (class Mail {})"), "The state is neither"],
  ["a date of another realm", { a: runInNewContext("new Date(0)") }, 'at "state.a" is not a JSON'],
  ["a map inside", { a: new Map() }, 'The state at "state.a" is not a JSON value'],
])("rejects a state that is %s", (_, state, message) => {
  const error = failureOf({ state, questions });
  expect(error).toBeInstanceOf(InvalidRequestError);
  expect(error).toMatchObject({ questionId: null, message: expect.stringContaining(message) });
});

test.each<[string, unknown, string]>([
  ["no options", { ...choice("which?", { a: "A" }), criteria: {} }, "has no option"],
  ["no levels", { ...score("how much?", ["a"]), criteria: [] }, "has no level"],
  [
    "an unknown type",
    { type: "circle", instructions: "where?" },
    "is not a choice, score, boolean or box",
  ],
  ["empty instructions", boolean(""), "has empty instructions"],
  ["white space for instructions", choice(" \n\u00a0", { a: "a" }), "has empty instructions"],
  ["no instructions", { type: "boolean" }, 'at "instructions"'],
  ["a description that is no text", choice("which?", { a: 1 } as never), 'at "criteria.a"'],
  ["a level that is no text", score("how much?", [1] as never), 'at "criteria.0"'],
  ["null for its instructions", boolean(null as never), 'at "instructions"'],
  ["a date in its instructions", boolean({ at: new Date(0) } as never), 'at "instructions"'],
  ["instructions in a cycle", boolean(cyclic as never), 'at "instructions"'],
  ["a cycle in a level", score("how much?", [Object.freeze([cyclic])] as never), "criteria.0"],
  ["an unknown field", { ...boolean("scam?"), weight: 2 }, 'leave out "weight".'],
  ["levels that are no list", score("how much?", "low" as never), 'at "criteria": use a list.'],
  ["text for an object", "scam?", "box question: use an object."],
])("rejects a question with %s and names it", (_, question, message) => {
  const error = failureOf({ state: "text", questions: { first: boolean("ok?"), odd: question } });
  expect(error).toBeInstanceOf(InvalidRequestError);
  expect(error).toMatchObject({ questionId: "odd", message: expect.stringContaining(message) });
});

test("takes the bytes of an image from another realm", () => {
  const gif = runInNewContext("Uint8Array.from([0x47, 0x49, 0x46, 0x38])") as Uint8Array;
  expect(image(gif)).toEqual({ image: "data:image/gif;base64,R0lGOA==" });
});

test.each<[string, unknown]>([
  ["no questions", { state: "text", questions: {} }],
  ["questions that are a list", { state: "text", questions: [boolean("ok?")] }],
  ["an unknown field", { state: "text", questions, model: "other" }],
  ["nothing", undefined],
])("rejects a request with %s", (_, request) => {
  expect(failureOf(request)).toBeInstanceOf(InvalidRequestError);
});

function optionsOf(count: number) {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`option ${index}`, ""]));
}

function levelsOf(count: number) {
  return Array.from({ length: count }, (_, index) => `level ${index}`);
}

test("takes 255 options and 10 levels, and more only when the limit is raised", () => {
  const ask = (question: unknown) => ({ state: "text", questions: { large: question } });
  expect(failureOf(ask(choice("which?", optionsOf(255))))).toBeUndefined();
  expect(failureOf(ask(score("how much?", levelsOf(10))))).toBeUndefined();
  expect(failureOf(ask(choice("which?", optionsOf(256))))).toMatchObject({
    questionId: "large",
    message: expect.stringContaining("questionLimits.maxOptions"),
  });
  expect(failureOf(ask(score("how much?", levelsOf(11))))).toMatchObject({
    questionId: "large",
    message: expect.stringContaining("questionLimits.maxLevels"),
  });
  const raised = { maxOptions: 300, maxLevels: 11 };
  const request = {
    state: "text",
    questions: { a: choice("which?", optionsOf(300)), b: score("how much?", levelsOf(11)) },
  };
  expect(() => requestParser(raised)(request)).not.toThrow();
});

test("estimates a request near the counts of its JSON by a public tokenizer", () => {
  // o200k counts 110 tokens.
  const request = {
    state: {
      from: "a@example.com",
      subject: "Your invoice",
      body: "Please find attached the invoice for your order of last week.",
    },
    questions: {
      category: choice("What kind of email is this?", {
        receipt: "a payment receipt",
        other: "none of the above",
      }),
      importance: score("How important is it?", [
        "ignore: nothing to do",
        "high: reply within days",
      ]),
      scam: boolean("Does it look like a scam?"),
    },
  };
  expect(Math.abs(estimateTokens(request) / 110 - 1)).toBeLessThan(0.25);
});

test.each<[string, unknown, boolean]>([
  ["more words than tokens", "word ".repeat(33_000), true],
  ["as many words as tokens", "word ".repeat(32_000), false],
  ["words in an object", { mail: { parts: ["one two ".repeat(17_000)] } }, true],
  ["empty lines", "\n ".repeat(40_000), false],
  ["one endless word", "xy".repeat(130_000), true],
  ["a drawn line", "=".repeat(300_000), false],
  ["indented lines", `${" ".repeat(60)}x\n`.repeat(5000), false],
  ["a long word that may be few tokens", "x".repeat(250_000), false],
  ["a short text", "Your invoice", false],
  ["the bytes of an image", [image(`data:image/png;base64,${"x".repeat(257_000)}`)], false],
])("knows whether a state is surely too long: %s", (_, state, isTooLong) => {
  expect(isSurelyOver(state, 32_000)).toBe(isTooLong);
});
